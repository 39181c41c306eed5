package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"redeliver/web/store"
)

// requests counts what the site answers. A series is a route and not an address:
// strangers choose addresses.
type requests struct {
	answered *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newRequests() requests {
	return requests{
		answered: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "redeliver_http_requests_total", Help: "Requests, by route and class of status: 2xx.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "redeliver_http_request_seconds", Help: "Time from a request to the end of its answer. Event streams are left out.",
			Buckets: []float64{.002, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 20},
		}, []string{"route"}),
	}
}

// observe counts one answer.
func (r requests) observe(c echo.Context, took time.Duration) {
	route := c.Path()
	if route == "" || c.Response().Status == http.StatusNotFound && strings.HasSuffix(route, "*") {
		route = "none"
	}
	r.answered.WithLabelValues(route, strconv.Itoa(c.Response().Status/100)+"xx").Inc()
	if !isStream(c) {
		r.seconds.WithLabelValues(route).Observe(took.Seconds())
	}
}

// register makes the site's figures part of what /metrics shows.
func (s *Server) register(r prometheus.Registerer) error {
	streams := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "redeliver_http_streams_open", Help: "Event streams that are open.",
	}, func() float64 { return float64(len(s.streams)) })
	for _, c := range []prometheus.Collector{s.requests.answered, s.requests.seconds, streams} {
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}

// metricsShow shows the figures to whoever has the token. Without a token, or
// with another one, the page does not exist: how much a site is used, and with
// what result, is not for everybody.
func (s *Server) metricsShow(c echo.Context) error {
	given, ok := strings.CutPrefix(c.Request().Header.Get(echo.HeaderAuthorization), "Bearer ")
	want, got := sha256.Sum256([]byte(s.cfg.MetricsToken)), sha256.Sum256([]byte(given))
	if s.cfg.MetricsToken == "" || !ok || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
		return store.ErrNotFound
	}
	promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{DisableCompression: true}).ServeHTTP(c.Response(), c.Request())
	return nil
}
