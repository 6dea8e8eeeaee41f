# SPDX-License-Identifier: MIT
"""service.py - the sinusoidal table as a small FastAPI and numpy service would serve it."""

import numpy
from fastapi import FastAPI
from fastapi.responses import JSONResponse

app = FastAPI()


@app.get("/v1/sinusoidal")
def sinusoidal(d_model: int, positions: str = "0:128", base: float = 10000.0):
    first, last = map(int, positions.split(":"))
    angles = numpy.outer(numpy.arange(first, last), base ** (-numpy.arange(0, d_model, 2) / d_model))
    table = numpy.empty((last - first, d_model), numpy.float32)
    table[:, 0::2] = numpy.sin(angles)
    table[:, 1::2] = numpy.cos(angles)
    # A response of its own spares it FastAPI's walk over every number.
    return JSONResponse({"dtype": "float32", "shape": table.shape, "data": table.tolist()})
