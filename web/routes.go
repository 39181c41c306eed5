package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"redeliver/static"
	"redeliver/web/store"
)

// matcher is what an Echo and a Group have in common.
type matcher interface {
	Match(methods []string, path string, h echo.HandlerFunc, m ...echo.MiddlewareFunc) []*echo.Route
}

// get answers HEAD too, which checks of addresses like to send.
func get(m matcher, path string, h echo.HandlerFunc, before ...echo.MiddlewareFunc) {
	m.Match([]string{http.MethodGet, http.MethodHead}, path, h, before...)
}

// routes is the index of the site: an address leads to the file that is called
// like its method.
func (s *Server) routes(e *echo.Echo) {
	// For machines, which ask the process and not the proxy.
	get(e, "/healthz", s.healthShow)
	get(e, "/readyz", s.readyShow)
	get(e, "/metrics", s.metricsShow)

	base := string(s.cfg.BasePath)
	if base != "" {
		get(e, base, s.baseRedirect)
	}
	under := e.Group(base)
	get(under, static.Prefix+"*", echo.WrapHandler(http.StripPrefix(base, static.Handler())))

	// Addresses without a language.
	get(under, "/", s.languageChoose)
	get(under, "/questions", s.languageChoose)
	get(under, "/questions/*", s.languageChoose)
	get(under, "/glossary", s.languageChoose)
	get(under, "/exercises", s.languageChoose)
	get(under, "/exercises/*", s.languageChoose)
	get(under, "/search", s.languageChoose)
	get(under, "/review", s.languageChoose)
	get(under, "/progress", s.languageChoose)
	get(under, "/labs", s.languageChoose)
	get(under, "/labs/*", s.languageChoose)
	get(under, "/submissions/*", s.languageChoose)
	get(under, "/runs/*", s.languageChoose)
	get(under, "/sign-in", s.languageChoose)
	get(under, "/invitations/*", s.languageChoose)
	get(under, "/account", s.languageChoose)
	get(under, "/account/*", s.languageChoose)
	get(under, "/people", s.languageChoose)
	get(under, "/people/*", s.languageChoose)
	get(under, "/assign", s.languageChoose)
	get(under, "/assign/*", s.languageChoose)
	get(under, "/a/*", s.languageChoose)

	get(under, OIDCCallback, s.oidcFinish)

	// For programs that act as a person; api.go.
	api := under.Group(apiRoot+"v1", s.limitPosts(s.cfg.APIPerMinute))
	get(api, "/openapi.json", s.apiDescribe)
	s.apiRoutes(api.Group("", s.bearer, s.once))

	site := under.Group("/:lang", s.language)
	get(site, "", s.homeRedirect)
	get(site, "/", s.homeShow)
	get(site, "/card.png", s.homeCard)

	get(site, "/questions", s.questionsShow)
	get(site, "/questions/:slug", s.questionShow)
	get(site, "/questions/:slug/card.png", s.questionCard)
	get(site, "/questions/:slug/own-answer", s.answerReturn)
	get(site, "/glossary", s.glossaryShow)

	get(site, "/exercises", s.exercisesShow)
	get(site, "/exercises/:pack/:slug/card.png", s.exerciseCard)
	get(site, "/exercises/:pack/:slug/watch", s.watchShow)
	get(site, "/exercises/:pack/:slug/watch/:wrong", s.watchShow)
	get(site, "/exercises/:pack/:slug/predictions", s.exerciseReturn)
	posts, drafts := s.limitPosts(s.cfg.PostsPerMinute), s.limitPosts(s.cfg.DraftsPerMinute)
	site.POST("/questions/:slug/own-answer", s.answerSave, posts)
	s.exerciseRoutes(site, posts, drafts)
	site.POST("/exercises/:pack/:slug/predictions", s.predictionCreate, posts)

	get(site, "/review", s.reviewShow)
	site.POST("/review", s.cardRate, s.limitPosts(s.cfg.RatingsPerMinute))
	get(site, "/progress", s.progressShow)
	get(site, "/progress/redeliver-progress.json", s.progressExport)
	get(site, "/progress/import", s.progressReturn)
	get(site, "/progress/forget", s.progressReturn)
	site.POST("/progress/import", s.progressImport, posts)
	site.POST("/progress/forget", s.browserForget, posts)

	get(site, "/search", s.searchShow)

	get(site, "/labs", s.labsShow)
	get(site, "/labs/:slug", s.labShow)
	get(site, "/labs/:slug/card.png", s.labCard)
	site.POST("/labs/:slug", s.labAct)
	site.GET("/labs/:slug/events", s.labEvents)

	get(site, "/runs/:token", s.runShow)

	// Accounts. Candidates need none.
	get(site, "/sign-in", s.signInShow)
	site.POST("/sign-in", s.signInCreate)
	get(site, "/sign-in/oidc", s.oidcBegin)
	get(site, "/invitations/:token", s.invitationShow)
	get(site, "/invitations/:token/oidc", s.oidcBegin)
	site.POST("/invitations/:token", s.invitationAccept, posts)

	mine := s.only(store.Owner, store.Interviewer)
	site.POST("/sign-out", s.signOut, mine)
	get(site, "/account", s.accountShow, mine)
	get(site, "/account/password", s.accountReturn, mine)
	site.POST("/account/password", s.passwordChange, mine, posts)
	site.POST("/account/sign-out-everywhere", s.signOutEverywhere, mine)
	get(site, "/account/tokens", s.accountReturn, mine)
	site.POST("/account/tokens", s.tokenCreate, mine, posts)
	site.POST("/account/tokens/:id/revoke", s.tokenRevoke, mine, posts)

	// Interviewers: what they ask of candidates.
	get(site, "/assign", s.assignmentsShow, mine)
	get(site, "/assign/new", s.assignmentNew, mine)
	site.POST("/assign", s.assignmentCreate, mine, posts)
	get(site, "/assign/:id", s.assignmentShow, mine)
	get(site, "/assign/:id/links", s.assignmentReturn, mine)
	get(site, "/assign/:id/open-link", s.assignmentReturn, mine)
	site.POST("/assign/:id/links", s.candidateInvite, mine, posts)
	site.POST("/assign/:id/open-link", s.openLinkCreate, mine, posts)
	site.POST("/assign/:id/open-link/cancel", s.openLinkCancel, mine, posts)
	site.POST("/assign/:id/delete", s.assignmentDelete, mine, posts)
	get(site, "/assign/:id/compare", s.compareShow, mine)
	get(site, "/assign/:id/candidates.csv", s.candidatesCSV, mine)
	get(site, "/assign/:id/candidates.json", s.candidatesJSON, mine)

	report := site.Group("/assign/:aid/candidates/:cid", mine, s.inReport)
	get(report, "", s.candidateShow)
	get(report, "/candidate.json", s.candidateExport)
	get(report, "/exercises/:pack/:slug", s.playbackShow)
	get(report, "/exercises/:pack/:slug/history", s.historyShow)
	get(report, "/submissions/:id", s.submissionShow)
	report.GET("/submissions/:id/events", s.submissionEvents)
	report.POST("/cancel", s.candidateCancel, posts)
	report.POST("/extra", s.candidateExtra, posts)
	report.POST("/notes", s.candidateJudge, posts)
	report.POST("/delete", s.candidateDelete, posts)
	for _, form := range []string{"/cancel", "/extra", "/notes", "/delete"} {
		get(report, form, s.candidateReturn)
	}

	// Candidates: their side of an assignment, for who has the link.
	get(site, "/a/:token", s.sittingShow)
	site.POST("/a/:token", s.sittingCome) // bounded by the places of an address
	sitting := site.Group("/a/:token", s.inSitting)
	get(sitting, "/start", s.sittingReturn)
	get(sitting, "/end", s.sittingReturn)
	sitting.POST("/start", s.sittingStart, posts)
	sitting.POST("/end", s.sittingEnd, posts)
	s.exerciseRoutes(sitting, posts, drafts)

	owner := s.only(store.Owner)
	get(site, "/people", s.peopleShow, owner)
	get(site, "/people/log", s.auditShow, owner)
	get(site, "/people/invitations", s.peopleReturn, owner)
	site.POST("/people/invitations", s.invitationCreate, owner, posts)
	site.POST("/people/invitations/:id/cancel", s.invitationCancel, owner)
	get(site, "/people/webhooks", s.webhooksShow, owner)
	site.POST("/people/webhooks", s.webhookCreate, owner, posts)
	get(site, "/people/webhooks/:id", s.webhookShow, owner)
	site.POST("/people/webhooks/:id/test", s.webhookTest, owner, posts)
	site.POST("/people/webhooks/:id/deliveries/:did/repeat", s.deliveryRepeat, owner, posts)
	site.POST("/people/webhooks/:id/delete", s.webhookDelete, owner, posts)
	for _, form := range []string{"/test", "/deliveries/:did/repeat", "/delete"} {
		get(site, "/people/webhooks/:id"+form, s.webhookReturn, owner)
	}
	get(site, "/people/:id", s.personShow, owner)
	get(site, "/people/:id/password-link", s.personReturn, owner)
	site.POST("/people/:id/password-link", s.personLink, owner, posts)
	site.POST("/people/:id/sign-out", s.personSignOut, owner)
	site.POST("/people/:id/remove", s.personRemove, owner)
}

// apiRoutes are for who sends a token.
func (s *Server) apiRoutes(api *echo.Group) {
	get(api, "/assignments", s.apiAssignments)
	api.POST("/assignments", s.apiAssignmentCreate)
	get(api, "/assignments/:aid", s.apiAssignmentShow)
	api.POST("/assignments/:aid/close", s.apiAssignmentClose)
	get(api, "/assignments/:aid/candidates", s.apiCandidates)
	api.POST("/assignments/:aid/candidates", s.apiCandidateInvite)

	one := api.Group("/assignments/:aid/candidates/:cid", s.inReport)
	get(one, "", s.apiCandidateShow)
	get(one, "/export", s.candidateExport)
	get(one, "/submissions/:id", s.apiSubmission)
	get(one, "/exercises/:pack/:slug/drafts/:version", s.apiDraft)
	one.POST("/cancel", s.apiCandidateCancel)
	one.PUT("/extra-time", s.apiCandidateExtra)
}

// exerciseRoutes are the pages of somebody at work, who practises or sits.
func (s *Server) exerciseRoutes(g *echo.Group, posts, drafts echo.MiddlewareFunc) {
	get(g, "/exercises/:pack/:slug", s.exerciseShow)
	get(g, "/exercises/:pack/:slug/drafts", s.exerciseReturn)
	get(g, "/exercises/:pack/:slug/checks", s.exerciseReturn)
	get(g, "/exercises/:pack/:slug/submissions", s.exerciseReturn)
	get(g, "/exercises/:pack/:slug/reset", s.exerciseReturn)
	get(g, "/exercises/:pack/:slug/history", s.historyShow)
	g.POST("/exercises/:pack/:slug/drafts", s.draftSave, drafts, forDrafts)
	g.POST("/exercises/:pack/:slug/reset", s.draftReset, drafts)
	g.POST("/exercises/:pack/:slug/checks", s.checkCreate, posts)
	g.POST("/exercises/:pack/:slug/submissions", s.submissionCreate, posts)
	get(g, "/submissions/:id", s.submissionShow)
	g.GET("/submissions/:id/events", s.submissionEvents)
}
