"""Surveys whose answers are perturbed in the browser: the pages, the server that collects reports, and the closing.

Nothing here draws noise. `description` states a noise model for JavaScript, and `page/perturber.js` applies it with the
integer laws and the keyed function of `scumble.privacy.perturber`, on the machine of the person who answers.
"""
