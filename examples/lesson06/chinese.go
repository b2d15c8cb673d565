package main

// chinese is what the demo says with -zh, by what it says without.
var chinese = map[string]string{
	"the server asks: %s":                                           "服务器问：%s",
	"the person's answer: %s %v":                                    "用户的回答：%s %v",
	"the server asks: %s [y/n]":                                     "服务器问：%s [y/n]",
	"Your turn":                                                     "轮到您了",
	"1. A client that cannot ask anybody":                           "1. 无法向任何人提问的客户端",
	"2. A person who says no":                                       "2. 用户说“不”",
	"3. A person who says yes":                                      "3. 用户说“好”",
	"4. The two rounds by hand, and a client that cheats":           "4. 手工完成两个回合，以及一个作弊的客户端",
	"the older era has no request state that a client could change": "旧时代没有客户端可以改动的请求状态",
	"nobody was asked":                                              "没有人被问过",
	"round 1: input_required; the state has %d characters, all of them opaque": "第 1 回合：input_required；状态有 %d 个字符，全都看不懂",
	"the answer is no text": "回答不是文本",
	"the tool says: %s":     "工具说：%s",
	"that does not say %q":  "这里面没有 %q",
}
