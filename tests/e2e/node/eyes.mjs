// What is seen of a page: every request that it makes, what the console says, its looks at every size, and axe.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
// What depends on sizes and colours; the rest is as true of one as of all.
const rules_of_looks = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable', 'region']
const widths = [1280, 640, 320] // 640 and 320 are also what 1280 become for who reads at 200 and 400 %
const height = 900
const target_min = 24 // pixels, WCAG 2.2, 2.5.8

/// Runs in the page: what is pressed, outside of sentences, and smaller than that.
function small_targets(least) {
    return [...document.querySelectorAll('a[href]:not(.skip), button, input:not([type=hidden]), select, textarea, summary')]
        .filter((each) => each.checkVisibility() && !each.closest('p, dd'))
        .filter((each) => {
            const { width, height } = each.getBoundingClientRect()
            return width < least || height < least
        })
        .map((each) => each.outerHTML.slice(0, 120))
}

export class Eyes {
    /// `narrow`: only where words have least room.
    constructor(page, { hosts, shots, thorough, narrow }) {
        this.page = page
        this.shots = shots
        this.thorough = thorough
        this.narrow = narrow
        this.findings = []
        this.looks = 0
        page.on('request', (request) => {
            const url = new URL(request.url())
            if (url.protocol !== 'data:' && !hosts.includes(url.host)) this.find(`a request to ${url.host}`)
        })
        // What a request was answered is checked where it is made; that the console repeats it is no news.
        page.on('console', (message) => {
            if (!message.text().startsWith('Failed to load resource: the server responded')) this.find(`the console: ${message.text()}`)
        })
        page.on('pageerror', (error) => this.find(`a script failed: ${error}`))
        // An icon that is still loading when the page is left was not missing.
        const was_left = (request) => request.url().endsWith('.svg') && request.failure().errorText === 'net::ERR_ABORTED'
        page.on('requestfailed', (request) => was_left(request) || this.find(`no answer: ${request.url()} ${request.failure().errorText}`))
        page.on('response', (response) => {
            if (response.status() >= 400 && !response.request().isNavigationRequest()) this.find(`${response.status()} for ${response.url()}`)
        })
    }

    find(what) {
        this.findings.push(`${new URL(this.page.url()).pathname}: ${what}`)
    }

    /// Light and dark, at every width: nothing to scroll sideways, nothing that axe knows better, and a picture.
    async look(name) {
        this.looks++
        console.error(`looking at ${name}`)
        const shown = await this.page.evaluate(() =>
            [...document.querySelectorAll('[hidden]')].filter((each) => each.checkVisibility()).map((each) => each.outerHTML))
        for (const each of shown) this.find(`${name}: hidden, and shown: ${each}`)
        if (!this.thorough) return
        await this.page.evaluate(axe)
        let runOnly = { type: 'tag', values: tags }
        for (const colorScheme of this.narrow ? ['light'] : ['light', 'dark']) {
            await this.page.emulateMedia({ colorScheme })
            for (const width of this.narrow ? widths.slice(-1) : widths) {
                await this.page.setViewportSize({ width, height })
                const where = `${name}_${colorScheme}_${width}`
                const { wider, violations } = await this.page.evaluate(async (options) => ({
                    wider: document.documentElement.scrollWidth - innerWidth,
                    violations: (await globalThis.axe.run(document, options)).violations.map((each) =>
                        `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`),
                }), { runOnly, resultTypes: ['violations'] })
                if (wider > 0) this.find(`${where}: ${wider} pixels too wide`)
                for (const each of violations) this.find(`${where}: ${each}`)
                for (const each of await this.page.evaluate(small_targets, target_min)) this.find(`${where}: a small target: ${each}`)
                if (this.narrow || width !== widths.at(-1)) await this.page.screenshot({ path: join(this.shots, `${where}.png`), fullPage: true })
                runOnly = { type: 'rule', values: rules_of_looks }
            }
        }
        await this.page.emulateMedia({ colorScheme: 'light' })
        await this.page.setViewportSize({ width: widths[0], height })
        if (this.narrow) return
        await this.look_at_print(name)
        await this.look_otherwise(name)
    }

    /// Without what only works on a screen, and as wide as the sheet.
    async look_at_print(name) {
        await this.page.emulateMedia({ media: 'print' })
        const { printed, width } = await this.page.evaluate(() => ({
            printed: [...document.querySelectorAll('nav, .actions, .heading button')].filter((each) => each.checkVisibility()).map((each) => each.outerHTML),
            width: document.querySelector('main').getBoundingClientRect().width,
        }))
        for (const each of printed) this.find(`${name}: in print: ${each.slice(0, 120)}`)
        if (width < 400) this.find(`${name}: in print: ${width} pixels wide`)
        await this.page.emulateMedia({ media: 'screen' })
    }

    /// With the colours of the system, where backgrounds are gone: what can be pressed or filled in has an edge. With less
    /// motion: nothing moves.
    async look_otherwise(name) {
        await this.page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
        const { edgeless, moving } = await this.page.evaluate(() => {
            const all = [...document.querySelectorAll('*')].filter((each) => each.checkVisibility())
            const controls = all.filter((each) => each.matches('button:not(.link), .button, input:not([type=hidden]), select, textarea'))
            const has_edge = (style) => style.borderTopStyle !== 'none' && parseFloat(style.borderTopWidth) >= 1 &&
                style.borderTopColor !== style.backgroundColor && !/^rgba.* 0\)$/.test(style.borderTopColor)
            const moves = (style) => parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none' || style.scrollBehavior === 'smooth'
            return {
                edgeless: controls.filter((each) => each.type !== 'checkbox' && !has_edge(getComputedStyle(each))).map((each) => each.outerHTML),
                moving: all.filter((each) => moves(getComputedStyle(each))).map((each) => each.outerHTML.slice(0, 120)),
            }
        })
        for (const each of edgeless) this.find(`${name}: no edge in forced colours: ${each}`)
        for (const each of moving) this.find(`${name}: moves: ${each}`)
        await this.page.emulateMedia({ forcedColors: 'none', reducedMotion: 'no-preference' })
    }
}
