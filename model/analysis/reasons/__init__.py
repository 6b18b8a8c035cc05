"""Why a head looks where it looks: a score split exactly over what the residual stream is made of."""
