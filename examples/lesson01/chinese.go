package main

// chinese is what the demo says with -zh, by what it says without.
var chinese = map[string]string{
	"1. Connect: the client asks who is there":              "1. 连接：客户端问对方是谁",
	"%s speaks protocol %s":                                 "%s 使用的协议版本是 %s",
	"2. List the tools: this is all that a model will know": "2. 列出工具：模型知道的就是这些",
	"3. Call one":             "3. 调用一个",
	"2 + 0.5 came back as %v": "2 + 0.5 得到的回答是 %v",
	"4. Call one that is not there: that is an error of the protocol, not of a tool": "4. 调用一个不存在的：这是协议的错误，不是工具的错误",
	"a tool that does not exist was called":                                          "居然调用了不存在的工具",
}
