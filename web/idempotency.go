package web

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"

	"github.com/labstack/echo/v4"

	"redeliver/web/store"
)

// idempotencyHeader is that of draft-ietf-httpapi-idempotency-key-header: a program
// that does not know whether its request has arrived sends it again under the same key.
const idempotencyHeader = "Idempotency-Key"

// keyForm is a string of structured fields (RFC 9651) without anything to escape, or
// the same without its quotation marks, as many clients send it.
var keyForm = regexp.MustCompile(`^(?:"([!#-\[\]-~]{1,255})"|([!#-\[\]-~]{1,255}))$`)

// idempotencyKey reads the header; sent is false without one.
func idempotencyKey(r *http.Request) (key string, sent bool, err error) {
	values := r.Header.Values(idempotencyHeader)
	if len(values) == 0 {
		return "", false, nil
	}
	found := keyForm.FindStringSubmatch(values[0])
	if len(values) > 1 || found == nil {
		return "", true, &apiError{http.StatusBadRequest, "", idempotencyHeader + " is one string of 1 to 255 visible ASCII characters in quotation marks, without quotation marks and backslashes in it."}
	}
	return found[1] + found[2], true, nil
}

// once does what a program asks under a key one time: the key, what is made and the
// answer are kept in one transaction, and the same request again is answered from
// there. What is refused is not kept, so it can be corrected under the same key.
func (s *Server) once(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		key, sent, err := idempotencyKey(c.Request())
		if c.Request().Method != http.MethodPost || !sent {
			return next(c)
		}
		if err != nil {
			return err
		}
		body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxAPIBody))
		var tooLarge *http.MaxBytesError
		if err != nil && !errors.As(err, &tooLarge) {
			err = badRequest("read body: %w", err)
		}
		if err != nil {
			return err
		}
		token := bearerToken(c.Request())
		k := store.Keyed{TokenHash: store.HashToken(token), Key: key, Request: requestHash(c.Request(), body)}
		if _, busy := s.keysUnderWay.LoadOrStore(k.TokenHash+" "+key, true); busy {
			return later(c, 1, &apiError{http.StatusConflict, "", "A request under this " + idempotencyHeader + " is under way. Send it again when that has been answered."})
		}
		defer s.keysUnderWay.Delete(k.TokenHash + " " + key)
		return s.answerOnce(c, next, k, token, body)
	}
}

func (s *Server) answerOnce(c echo.Context, next echo.HandlerFunc, k store.Keyed, token string, body []byte) error {
	request, response := c.Request(), c.Response()
	sealed, err := s.store.Once(request.Context(), k, s.cfg.Now(), func(ctx context.Context) (string, error) {
		taken := &takenAnswer{header: http.Header{}, status: http.StatusOK}
		r := request.WithContext(ctx)
		r.Body = io.NopCloser(bytes.NewReader(body))
		c.SetRequest(r)
		c.SetResponse(echo.NewResponse(taken, c.Echo()))
		defer func() { c.SetRequest(request); c.SetResponse(response) }()
		if err := next(c); err != nil {
			return "", err
		}
		kept, err := taken.kept()
		if err != nil {
			return "", err
		}
		return sealAnswer(kept, k, token)
	})
	switch {
	case errors.Is(err, store.ErrNoToken): // it has ended since bearer asked
		return errNoToken
	case errors.Is(err, store.ErrOtherRequest):
		return unprocessable("", "This %s came with another request within the last 24 hours. Each request has a key of its own.", idempotencyHeader)
	case errors.Is(err, store.ErrManyAnswers):
		return later(c, 3600, &apiError{http.StatusTooManyRequests, "", fmt.Sprintf(
			"For this token %d answers or %d MiB of them are kept, and each for 24 hours. Ask again in an hour.", store.MaxAnswers, store.MaxAnswerBytes>>20)})
	case err != nil:
		return err
	}
	kept, err := openAnswer(sealed, k, token)
	if err != nil {
		return err
	}
	if kept.Type == "" {
		return c.NoContent(kept.Status)
	}
	return c.Blob(kept.Status, kept.Type, kept.Body)
}

// requestHash stands for all that is asked for.
func requestHash(r *http.Request, body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", r.Method, r.URL.RequestURI())
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// takenAnswer takes what a handler writes: it is sent when the transaction has ended.
type takenAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *takenAnswer) Header() http.Header         { return a.header }
func (a *takenAnswer) WriteHeader(status int)      { a.status = status }
func (a *takenAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// kept is the answer as it can be given again. What would be lost is our mistake, which
// the first request shows.
func (a *takenAnswer) kept() (keptAnswer, error) {
	for name := range a.header {
		if name != echo.HeaderContentType {
			return keptAnswer{}, fmt.Errorf("keep answer: its header %s would not be kept", name)
		}
	}
	k := keptAnswer{a.status, a.header.Get(echo.HeaderContentType), a.body.Bytes()}
	if k.Type == "" && len(k.Body) > 0 {
		return keptAnswer{}, errors.New("keep answer: it has a body and no Content-Type")
	}
	return k, nil
}

// keptAnswer is what lies in the database, sealed.
type keptAnswer struct {
	Status int    `json:"status"`
	Type   string `json:"type"` // "": there is no body
	Body   []byte `json:"body"`
}

// sealAnswer encrypts an answer with what only the program has that may read it: a
// link for a candidate stands in one, and in the database only as a hash.
func sealAnswer(a keptAnswer, k store.Keyed, token string) (string, error) {
	plain, err := json.Marshal(a)
	if err != nil {
		return "", fmt.Errorf("seal answer: %w", err)
	}
	aead, err := answerCipher(k, token)
	if err != nil {
		return "", fmt.Errorf("seal answer: %w", err)
	}
	return base64.StdEncoding.EncodeToString(aead.Seal(nil, nil, plain, []byte(k.Request))), nil //nolint:gosec // this cipher draws the nonce itself
}

func openAnswer(sealed string, k store.Keyed, token string) (a keptAnswer, err error) {
	text, err := base64.StdEncoding.DecodeString(sealed)
	if err != nil {
		return a, fmt.Errorf("open answer: %w", err)
	}
	aead, err := answerCipher(k, token)
	if err != nil {
		return a, fmt.Errorf("open answer: %w", err)
	}
	plain, err := aead.Open(nil, nil, text, []byte(k.Request))
	if err == nil {
		err = json.Unmarshal(plain, &a)
	}
	if err != nil {
		return a, fmt.Errorf("open answer: %w", err)
	}
	return a, nil
}

// answerCipher has a key of its own for each answer; the nonce is drawn and stands
// before the text.
func answerCipher(k store.Keyed, token string) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(token), nil, "redeliver answer "+k.Key, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}
