package schedule

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
)

// Token is a replay token: a schedule and what it was made for. Its text is
//
//	rd1.<base64url of "engine \n exercise \n exercise hash \n source hash \n seed \n phase \n database \n choices">.<CRC-32>
//
// The choices are explicit, not a random seed: a seed would mean another
// schedule as soon as the engine changed. The checksum finds a token that was
// cut or mistyped; it protects nothing, so every part is checked on reading.
type Token struct {
	Engine       string
	Exercise     string // pack/slug
	ExerciseHash string // the first 16 hexadecimal digits
	SourceHash   string // likewise
	Seed         int64
	Schedule     Schedule
}

// MaxToken is the longest token that Decode looks at, in bytes.
const MaxToken = 1024

const prefix = "rd1."

// ErrToken wraps every refusal of a token's text.
var ErrToken = errors.New("this is not a replay token")

// ErrTokenVersion refuses a token of another format.
var ErrTokenVersion = errors.New("this replay token has another version")

func (t Token) String() string {
	s := t.Schedule
	body := strings.Join([]string{
		t.Engine, t.Exercise, t.ExerciseHash, t.SourceHash, strconv.FormatInt(t.Seed, 10), s.Phase, s.Database, s.String(),
	}, "\n")
	return prefix + base64.RawURLEncoding.EncodeToString([]byte(body)) + "." + checksum(body)
}

func checksum(body string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
}

// ParseToken reads a token's text. Errors wrap ErrToken or ErrTokenVersion.
func ParseToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	if len(text) > MaxToken {
		return Token{}, fmt.Errorf("%w: it is longer than %d bytes", ErrToken, MaxToken)
	}
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		if strings.HasPrefix(text, "rd") {
			return Token{}, ErrTokenVersion
		}
		return Token{}, fmt.Errorf("%w: it does not begin with %q", ErrToken, prefix)
	}
	code, sum, _ := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(code)
	if err != nil || checksum(string(raw)) != sum {
		return Token{}, fmt.Errorf("%w: it was cut or changed", ErrToken)
	}
	parts := strings.Split(string(raw), "\n")
	if len(parts) != 8 {
		return Token{}, fmt.Errorf("%w: it has %d parts", ErrToken, len(parts))
	}
	t := Token{Engine: parts[0], Exercise: parts[1], ExerciseHash: parts[2], SourceHash: parts[3]}
	if t.Seed, err = strconv.ParseInt(parts[4], 10, 64); err != nil {
		return Token{}, fmt.Errorf("%w: its seed is no number", ErrToken)
	}
	for _, h := range []string{t.ExerciseHash, t.SourceHash} {
		if _, err := hex.DecodeString(h); err != nil || len(h) != 16 {
			return Token{}, fmt.Errorf("%w: a hash is malformed", ErrToken)
		}
	}
	if t.Schedule, err = Parse(parts[7]); err != nil {
		return Token{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if !slices.Contains(Phases(), parts[5]) {
		return Token{}, fmt.Errorf("%w: no phase is called %q", ErrToken, parts[5])
	}
	t.Schedule.Phase, t.Schedule.Database = parts[5], parts[6]
	return t, nil
}
