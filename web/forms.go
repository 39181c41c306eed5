package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"
)

// postedForm is the form in the body. echo's FormValue swallows the error, and
// with it the limit of the body, and takes values of the address for those of the
// form.
func postedForm(c echo.Context) (url.Values, error) {
	if err := c.Request().ParseForm(); err != nil {
		if statusOf(err) == http.StatusRequestEntityTooLarge {
			return nil, err
		}
		return nil, badRequest("parse form: %w", err)
	}
	return c.Request().PostForm, nil
}

// retryAfter tells when it is worth asking again.
func retryAfter(c echo.Context, seconds int) {
	c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(seconds))
}

// later tells with an error when it is worth asking again, in seconds.
func later(c echo.Context, seconds int, err error) error {
	retryAfter(c, seconds)
	return err
}

// idOf reads the number of a row in an address. What is no number is a page that
// is not there.
func idOf(c echo.Context) (int64, error) { return numberOf(c, "id") }

func numberOf(c echo.Context, part string) (int64, error) {
	id, err := strconv.ParseInt(c.Param(part), 10, 64)
	if err != nil {
		return 0, echo.NewHTTPError(http.StatusNotFound).SetInternal(fmt.Errorf("read id: %w", err))
	}
	return id, nil
}
