package web

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"redeliver/web/auth"
	"redeliver/web/store"
	"redeliver/web/views/locale"
)

// apiRoot begins the addresses for programs. They know neither cookies nor languages.
const apiRoot = "/api/"

// apiDescription is the API as an OpenAPI document; a test compares it with the routes
// and with what they answer.
//
//go:embed openapi.json
var apiDescription []byte

// How many entries a page of a list has.
const (
	apiPage    = 50
	maxAPIPage = 200
)

// maxAPIBody bounds what a program sends, in bytes.
const maxAPIBody = 64 << 10

// isAPI tells the requests of programs.
func (s *Server) isAPI(c echo.Context) bool {
	return strings.HasPrefix(c.Request().URL.Path, string(s.cfg.BasePath)+apiRoot)
}

// apiDescribe gives the description. It says where the site is, as far as that is known.
func (s *Server) apiDescribe(c echo.Context) error {
	site, err := json.Marshal(cmp.Or(s.cfg.BaseURL+string(s.cfg.BasePath), "/"))
	if err != nil {
		return fmt.Errorf("describe the API: %w", err)
	}
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, bytes.Replace(apiDescription, []byte(`"url": "/"`), append([]byte(`"url": `), site...), 1))
}

// errNoToken is a request without a token that is worth something.
var errNoToken = errors.New("no valid token")

// bearer lets programs in that have a person's token; they may do what the person may.
func (s *Server) bearer(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		token := bearerToken(c.Request())
		if token == "" {
			return errNoToken
		}
		p, err := s.store.PersonByToken(c.Request().Context(), store.HashToken(token), s.cfg.Now())
		if errors.Is(err, store.ErrNotFound) {
			return errNoToken
		}
		if err != nil {
			return err
		}
		c.Set(personKey, p)
		return next(c)
	}
}

// bearerToken is the token that a request came with, or "".
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// apiError is what was wrong with a request, for who wrote the program.
type apiError struct {
	status int
	field  string // of the body or of the query, or ""
	detail string
}

func (e *apiError) Error() string { return e.detail }

func unprocessable(field, format string, args ...any) error {
	return &apiError{http.StatusUnprocessableEntity, field, fmt.Sprintf(format, args...)}
}

// apiProblem is the body of an answer to what went wrong, as RFC 9457 has it. What
// else the status says needs no address of a type.
type apiProblem struct {
	Type    string `json:"type"`
	Title   string `json:"title"`
	Status  int    `json:"status"`
	Detail  string `json:"detail"`
	Field   string `json:"field,omitempty"`
	Request string `json:"request"` // its id in the log
}

// apiDetails are sentences for errors that have none of their own.
var apiDetails = map[int]string{
	http.StatusBadRequest:            "The request cannot be read.",
	http.StatusUnauthorized:          "Send a valid token: Authorization: Bearer and the token, which you make on the page of your account.",
	http.StatusNotFound:              "There is nothing at this address for this method, or it is not yours to see.",
	http.StatusRequestEntityTooLarge: "The body is too large.",
	http.StatusTooManyRequests:       "Too many requests came from your address; the header Retry-After says when to go on.",
}

// showAPIError answers a program.
func (s *Server) showAPIError(shown error, c echo.Context) {
	p := apiProblem{Type: "about:blank", Status: statusOf(shown), Request: c.Response().Header().Get(echo.HeaderXRequestID)}
	var said *apiError
	switch {
	case errors.As(shown, &said):
		p.Status, p.Field, p.Detail = said.status, said.field, said.detail
	case errors.Is(shown, errNoToken):
		p.Status = http.StatusUnauthorized
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="redeliver"`)
	}
	p.Title = http.StatusText(p.Status)
	if p.Detail == "" {
		p.Detail = apiDetails[p.Status]
	}
	if p.Detail == "" {
		p.Detail = "The fault is ours; the log of the server has it under this request."
	}
	body, err := json.Marshal(p)
	if err == nil {
		err = c.Blob(p.Status, "application/problem+json", body)
	}
	if err != nil {
		s.cfg.Log.ErrorContext(c.Request().Context(), "answer a program", slog.String("request_id", p.Request), slog.Any("error", err))
	}
}

// readBody reads the JSON object of a request into the fields that it knows.
func readBody(c echo.Context, into any) error {
	r := c.Request()
	kind, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
	if err != nil || kind != echo.MIMEApplicationJSON {
		return &apiError{http.StatusUnsupportedMediaType, "", "Send JSON, with Content-Type: application/json."}
	}
	d := json.NewDecoder(http.MaxBytesReader(c.Response(), r.Body, maxAPIBody))
	d.DisallowUnknownFields()
	err = d.Decode(into)
	var tooLarge *http.MaxBytesError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case errors.As(err, &wrongType):
		return unprocessable(wrongType.Field, "The body has a JSON %s where the description wants something else.", wrongType.Value)
	case err != nil:
		return &apiError{http.StatusBadRequest, "", "The body is not a JSON object of the fields that the description names."}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return &apiError{http.StatusBadRequest, "", "The body goes on after the JSON object."}
	}
	return nil
}

// inWords turns what a form would show beside a field into an error for a program.
func (s *Server) inWords(err error) error {
	var field *auth.FieldError
	if !errors.As(err, &field) {
		return err
	}
	text, missing := s.words.Words(locale.Default).Text("field." + field.Name + "-" + field.Reason)
	if missing != nil {
		return missing
	}
	return unprocessable(apiFields[field.Name], "%s", text)
}

// apiFields are the names that fields of forms have in bodies.
var apiFields = map[string]string{
	"title": "title", "message": "note", "exercises": "exercises", "warm-up": "warm_up", "minutes": "minutes",
	"opens": "opens_at", "closes": "closes_at", "retain": "retain_days", "name": "name", "extra": "extra_minutes",
}

// askedPage reads which part of a list is asked for.
func askedPage(c echo.Context, from string) (start int64, limit int, err error) {
	start, ok := askedID(c, from)
	if !ok {
		return 0, 0, unprocessable(from, "This is the id of an entry, a number above 0.")
	}
	limit = apiPage
	if text := c.QueryParam("limit"); text != "" && !number(text, 1, maxAPIPage, &limit) {
		return 0, 0, unprocessable("limit", "This is a number from 1 to %d.", maxAPIPage)
	}
	return start, limit, nil
}

// apiList is a part of a list.
type apiList[T any] struct {
	Items []T `json:"items"`
	// Next is the address of the entries that follow, without scheme and host; "" at the end.
	Next string `json:"next,omitempty"`
}

// cut takes the entry that was asked for beyond the limit off, and says where to go on.
func cut[T any](c echo.Context, from string, list []T, limit int, id func(T) int64) apiList[T] {
	page, last := pageOf(list, limit, id)
	if last == 0 {
		return apiList[T]{Items: page}
	}
	next := url.Values{"limit": {strconv.Itoa(limit)}, from: {strconv.FormatInt(last, 10)}}
	return apiList[T]{Items: page, Next: c.Request().URL.Path + "?" + next.Encode()}
}
