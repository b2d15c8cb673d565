package main

// chinese is what the demo says with -zh, by what it says without.
var chinese = map[string]string{
	"1. A call that fits: structured content comes back":            "1. 符合要求的调用：返回结构化内容",
	"2. An argument left out: the schema's default is used":         "2. 省略一个参数：使用 schema 里的默认值",
	"3. Too many guests: the schema refuses, the tool never runs":   "3. 客人太多：schema 拒绝，工具根本没有运行",
	"4. A misspelt name: refused, and not dropped in silence":       "4. 参数名写错：拒绝，而不是悄悄丢掉",
	"5. A day that does not exist: the tool says what to do":        "5. 不存在的日期：工具说明该怎么写",
	"6. A rule that no schema can say: the tool names two ways out": "6. schema 表达不了的规则：工具指出两条出路",
	"isError is %v for %s": "这个调用的 isError 是 %v：%s",
}
