package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"redeliver/web/review"
	"redeliver/web/views"
)

// progressExport gives what this browser has practised as a file.
func (s *Server) progressExport(c echo.Context) error {
	p, err := s.practice(c)
	if err != nil {
		return err
	}
	text, err := review.Export(p, s.cfg.Now())
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="redeliver-progress.json"`)
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, text)
}

// progressImport adds such a file to what is here. A file that cannot be used
// changes nothing, and the page says what is wrong with it.
func (s *Server) progressImport(c echo.Context) error {
	text, err := sentFile(c)
	if err != nil {
		return s.refuseFile(c, err)
	}
	p, leftOut, err := s.deck.Import(text, s.cfg.Now())
	if err != nil {
		return s.refuseFile(c, err)
	}
	browser, err := s.writer(c)
	if err != nil {
		return err
	}
	if err := s.store.MergePractice(c.Request().Context(), browser, p, s.cfg.Now()); err != nil {
		return err
	}
	to := views.WithNotice(views.ProgressURL(s.home(c)), "imported")
	if leftOut > 0 {
		to += templ.SafeURL("&left-out=" + strconv.Itoa(leftOut))
	}
	return c.Redirect(http.StatusSeeOther, string(to))
}

// sentFile reads the file of a form from the stream, so that nothing of it touches
// the disk.
func sentFile(c echo.Context) ([]byte, error) {
	parts, err := c.Request().MultipartReader()
	if err != nil {
		return nil, badRequest("read form: %w", err)
	}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return nil, &review.FileError{Fault: review.NoFile}
		case statusOf(err) == http.StatusRequestEntityTooLarge:
			return nil, &review.FileError{Fault: review.TooLarge}
		case err != nil:
			return nil, badRequest("read form: %w", err)
		case part.FormName() != views.ImportField:
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, review.MaxFile+1))
		switch {
		case len(text) > review.MaxFile || err != nil && statusOf(err) == http.StatusRequestEntityTooLarge:
			return nil, &review.FileError{Fault: review.TooLarge}
		case err != nil:
			return nil, badRequest("read file: %w", err)
		case len(text) == 0:
			return nil, &review.FileError{Fault: review.NoFile}
		}
		return text, nil
	}
}

func (s *Server) refuseFile(c echo.Context, err error) error {
	var fault *review.FileError
	if !errors.As(err, &fault) {
		return err
	}
	words := s.page(c).Words
	title, err1 := words.Text("progress.refused")
	alert, err2 := words.Text("fault."+string(fault.Fault), "Place", fault.Place, "Max", review.MaxFile)
	if err := errors.Join(err1, err2); err != nil {
		return fmt.Errorf("refuse file: %w", err)
	}
	return s.showProgress(c, http.StatusUnprocessableEntity, title, alert)
}
