package main

// chinese is what the demo says with -zh, by what it says without.
var chinese = map[string]string{
	"1. A call without a token: no progress, only the answer": "1. 不带令牌的调用：没有进度，只有回答",
	"answer: %v, notices: %d":                                 "回答：%v，通知：%d 条",
	"2. The same call with a token":                           "2. 同样的调用，带上令牌",
	"%v: %.0f of %.0f (%s)":                                   "%v：第 %.0f 步，共 %.0f 步（%s）",
	"3. A long call, given up after its second step":          "3. 一个漫长的调用，第二步之后放弃",
	"%.0f of %.0f":                                            "第 %.0f 步，共 %.0f 步",
	"the call ended with %v":                                  "这次调用结束于 %v",
	"the client waits no more":                                "客户端不再等待",
	"the server's log says: %s":                               "服务器的日志里写着：%s",
	"the server did not stop working":                         "服务器没有停止工作",
}
