package auth

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
)

// What people may choose, in characters.
const (
	MaxLogin    = 80
	MaxName     = 80
	MinPassword = 12
	MaxPassword = 128
)

// FieldError is what of a form cannot be accepted, and why. Its names are those of
// words: field "password" with reason "short".
type FieldError struct{ Name, Reason string }

// Error says it for the log.
func (f *FieldError) Error() string { return f.Name + " is not accepted: " + f.Reason }

// FoldLogin brings a name to sign in with to its one spelling: no difference
// between Ada and ada, or between two ways to write an accent. The empty string
// is no such name.
func FoldLogin(typed string) string {
	typed = strings.TrimSpace(typed)
	if len(typed) > utf8.UTFMax*MaxLogin {
		return ""
	}
	login, err := precis.UsernameCaseMapped.String(typed)
	if err != nil || utf8.RuneCountInString(login) > MaxLogin {
		return ""
	}
	return login
}

// foldPassword makes a password the same on every keyboard. The empty string is
// one that nobody can have.
func foldPassword(typed string) string {
	if len(typed) > utf8.UTFMax*MaxPassword {
		return ""
	}
	password, err := precis.OpaqueString.String(typed)
	if err != nil {
		return ""
	}
	return password
}

// newPassword checks a password that somebody chooses.
func newPassword(typed, login string) (string, error) {
	password := foldPassword(typed)
	n := utf8.RuneCountInString(password)
	switch {
	case len(typed) > utf8.UTFMax*MaxPassword, n > MaxPassword:
		return "", &FieldError{"password", "long"}
	case password == "" && typed != "":
		return "", &FieldError{"password", "characters"}
	case n < MinPassword:
		return "", &FieldError{"password", "short"}
	case easy(password, login):
		return "", &FieldError{"password", "easy"}
	}
	return password, nil
}

// easy tells the passwords that are tried first: a name, or a few characters
// again and again.
func easy(password, login string) bool {
	folded := strings.ToLower(password)
	if rest := strings.ReplaceAll(folded, login, ""); login != "" && utf8.RuneCountInString(rest) < MinPassword/2 {
		return true
	}
	different := map[rune]bool{}
	for _, r := range folded {
		different[r] = true
	}
	return len(different) < 5
}

// Name is the name of a person or of a candidate as it was typed, in the form in
// which it is shown, or a *FieldError.
func Name(typed string) (string, error) { return newName(typed) }

func newName(typed string) (string, error) {
	name, err := precis.Nickname.String(typed)
	switch {
	case len(typed) > utf8.UTFMax*MaxName, utf8.RuneCountInString(name) > MaxName:
		return "", &FieldError{"name", "long"}
	case strings.TrimSpace(typed) == "":
		return "", &FieldError{"name", "empty"}
	case err != nil:
		return "", &FieldError{"name", "characters"}
	}
	return name, nil
}

func newLogin(typed string) (string, error) {
	switch login := FoldLogin(typed); {
	case strings.TrimSpace(typed) == "":
		return "", &FieldError{"login", "empty"}
	case utf8.RuneCountInString(typed) > MaxLogin:
		return "", &FieldError{"login", "long"}
	case login == "":
		return "", &FieldError{"login", "characters"}
	default:
		return login, nil
	}
}
