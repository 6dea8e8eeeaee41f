// d3.d.ts - what the page uses of d3-scale, which is there as the global d3.
export interface Scale {
    (value: number): number;
    domain(domain: number[]): this;
    range(range: number[]): this;
    nice(count?: number): this;
    ticks(count?: number): number[];
    invert(place: number): number;
}

declare global {
    const d3: { scaleLinear(): Scale; scaleLog(): Scale };
}
