package web

import (
	"crypto/rand"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"redeliver/web/review"
)

// maxSource is what the files of a submission may have in all, in bytes.
const maxSource = 64 << 10

// maxBody is the largest form that can hold maxSource: in a form, most bytes
// that are no letters become three, and a line end becomes six.
const maxBody = "400K"

// policy lets a page load scripts, styles and pictures from here and nothing
// else; nothing inline runs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// use installs what every request passes, in this order.
func (s *Server) use(e *echo.Echo) {
	e.Use(
		requestID,
		s.logRequest, // shows errors too, so what stands above it only adds headers
		middleware.RecoverWithConfig(middleware.RecoverConfig{DisablePrintStack: true, LogErrorFunc: keepPanic}),
		middleware.SecureWithConfig(middleware.SecureConfig{
			ContentTypeNosniff:    "nosniff",
			XFrameOptions:         "DENY",
			ReferrerPolicy:        "same-origin",
			HSTSMaxAge:            365 * 24 * 3600, // sent over TLS only
			ContentSecurityPolicy: policy,
		}),
		noStore,
		sameOrigin,
		s.session,
		middleware.BodyLimitWithConfig(middleware.BodyLimitConfig{Limit: maxBody, Skipper: isFile}),
		limitFile,
		middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024, Skipper: isStream}),
	)
}

// requestID names the request in the log and on the page of an error. A name
// that the client proposes is not taken: it would stand in our log.
func requestID(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderXRequestID, strings.ToLower(rand.Text()[:16]))
		return next(c)
	}
}

// submissionKey is where a handler notes which submission a request is about,
// for the log.
const submissionKey = "submission"

// logRequest writes one line for each request, with the error if there was one;
// nothing else logs it.
func (s *Server) logRequest(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begin := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err) // draws the page, so that the status is known
		}
		took := time.Since(begin)
		s.requests.observe(c, took)
		attrs := []slog.Attr{
			slog.String("request_id", c.Response().Header().Get(echo.HeaderXRequestID)),
			slog.String("method", c.Request().Method), slog.String("route", c.Path()),
			slog.Int("status", c.Response().Status), slog.Duration("took", took),
		}
		if id, ok := c.Get(submissionKey).(string); ok && id != "" {
			attrs = append(attrs, slog.String("submission", id))
		}
		if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		s.cfg.Log.LogAttrs(c.Request().Context(), s.levelOf(c), "request", attrs...)
		return nil
	}
}

// levelOf keeps what machines ask every few seconds out of an ordinary log.
func (s *Server) levelOf(c echo.Context) slog.Level {
	switch {
	case c.Response().Status >= http.StatusInternalServerError && c.Path() != "/readyz":
		return slog.LevelError
	case c.Path() == "/healthz", c.Path() == "/readyz", c.Path() == "/metrics", s.isStatic(c):
		return slog.LevelDebug
	default:
		return slog.LevelInfo
	}
}

// noStore keeps pages, which hold people's code, out of caches. Static files
// say otherwise for themselves.
func noStore(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
		return next(c)
	}
}

// sameOrigin refuses what another site made the browser send. Requests without
// Sec-Fetch-Site and Origin, as curl sends them, pass: no cookie of a visitor
// can be behind them.
func sameOrigin(next echo.HandlerFunc) echo.HandlerFunc {
	protection := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		if err := protection.Check(c.Request()); err != nil {
			return echo.NewHTTPError(http.StatusForbidden).SetInternal(err)
		}
		return next(c)
	}
}

// isFile tells the address that takes a file, whose limit is limitFile's: its page
// says what is wrong with a file, and the page of an error speaks of source code.
func isFile(c echo.Context) bool { return strings.HasSuffix(c.Request().URL.Path, "/progress/import") }

// limitFile lets a form with one file pass; its reader hears of more.
func limitFile(next echo.HandlerFunc) echo.HandlerFunc {
	const form = 4 << 10 // what is around the file
	return func(c echo.Context) error {
		if isFile(c) {
			r := c.Request()
			r.Body = http.MaxBytesReader(c.Response(), r.Body, review.MaxFile+form)
		}
		return next(c)
	}
}

// isStream tells event streams: compressing would hold them back.
func isStream(c echo.Context) bool { return strings.HasSuffix(c.Request().URL.Path, "/events") }
