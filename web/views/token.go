package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"
)

// DaysField is how long a token works; empty: until it is revoked.
const DaysField = "days"

// TokenForm is the form for a new token, as it was sent.
type TokenForm struct {
	Name, Days string
	Problem    FormProblem
}

// TokenLine is a token of somebody, without the token itself.
type TokenLine struct {
	ID        int64
	Name      string
	CreatedAt time.Time
	ExpiresAt time.Time // zero: it does not end by itself
	UsedAt    time.Time // zero: never
}

// TokenModel is the model of Token.
type TokenModel struct {
	Page
	Line  TokenLine
	Token string
}

// NewToken builds the model of Token.
func NewToken(p Page, line TokenLine, token string) (TokenModel, error) {
	t := text{words: p.Words}
	p.Title, p.Description = t.say("token.made", "Name", line.Name), t.say("token.lead")
	return TokenModel{Page: p, Line: line, Token: token}, t.err
}

// TokensURL is where the form for a new token posts to.
func TokensURL(root Root) templ.SafeURL { return AccountURL(root) + "/tokens" }

// TokenRevokeURL ends a token.
func TokenRevokeURL(root Root, id int64) templ.SafeURL {
	return TokensURL(root) + templ.SafeURL("/"+strconv.FormatInt(id, 10)+"/revoke")
}
