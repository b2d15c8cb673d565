package main

// chinese is what the demo says with -zh, by what it says without.
var chinese = map[string]string{
	"1. What prompts are there?":               "1. 有哪些提示？",
	"/%s (%s): %s":                             "/%s（%s）：%s",
	"2. The user types into the field country": "2. 用户在 country（国家）一栏里输入",
	"3. The user types into the field city: the country is known by now":                        "3. 用户在 city（城市）一栏里输入：这时已经知道国家",
	"4. A client that does not say what is filled in already gets proposals that fit less well": "4. 客户端没有说明已经填了什么，得到的候选就不那么合适",
	"5. The form is sent: messages for the conversation come back":                              "5. 提交表单：返回要放进对话的消息",
	"6. A form with a field left empty is refused":                                              "6. 有一栏没填的表单会被拒绝",
	"a prompt was made without its city":                                                        "没有城市，居然也生成了提示",
}
