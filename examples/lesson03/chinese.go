package main

// chinese is what the demo says with -zh, by what it says without.
var chinese = map[string]string{
	"1. What can be read: a list of resources, and templates for more": "1. 有什么可读：资源列表，以及代表更多资源的模板",
	"template %s: %s": "模板 %s：%s",
	"2. Read the list, and one item through the template":     "2. 读清单，再通过模板读其中一项",
	"3. Read what is not there: an error that says only that": "3. 读不存在的东西：得到的错误只说这一点",
	"item 99 was read": "居然读到了第 99 项",
	"4. Subscribe to the list, then let a tool change it":  "4. 订阅清单，然后让工具修改它",
	"told: %s has changed":                                 "收到通知：%s 变了",
	"5. The notice did not say how it changed: read again": "5. 通知没有说变成了什么：再读一次",
	"6. Unsubscribe: from here on there is silence":        "6. 取消订阅：从此安静",
	"no notice came":     "没有收到通知",
	"resource %s (%s)":   "资源 %s（%s）",
	"%s has %d contents": "%s 有 %d 份内容",
	"%s holds %s":        "%s 的内容是 %s",
}
