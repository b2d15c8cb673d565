package testenv

// CodeOf is what the programs that tests start are told apart by.
var CodeOf = codeOf
