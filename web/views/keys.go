package views

// shortcut is something that the editor does by keys. The names of keys and what
// they do have words in package locale.
type shortcut struct {
	id      string
	keys    []string
	between string // between the keys
}

// shortcuts are those that a reader may not guess.
var shortcuts = []shortcut{
	{"leave", []string{"esc", "tab"}, ", "},
	{"tab-mode", []string{"ctrl", "m"}, " + "},
	{"indent", []string{"tab"}, ""},
	{"outdent", []string{"shift", "tab"}, " + "},
	{"save", []string{"ctrl", "s"}, " + "},
	{"undo", []string{"ctrl", "z"}, " + "},
	{"redo", []string{"ctrl", "y"}, " + "},
	{"find", []string{"ctrl", "f"}, " + "},
	{"comment", []string{"ctrl", "slash"}, " + "},
	{"next-message", []string{"f8"}, ""},
	{"move-line", []string{"alt", "arrows"}, " + "},
}
