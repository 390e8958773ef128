// Two people who do the same: one points and clicks, one has nothing but a keyboard.

import { check } from './talk.mjs'

export class Mouse {
    constructor(page) {
        this.page = page
    }

    async fill(where, text) {
        await where.fill(text)
    }

    async press(what) {
        await what.click()
    }

    async choose(select, text) {
        await select.selectOption({ label: text })
    }

    async submit(field) {
        await field.press('Enter')
    }

    /// All of a field's text, as people do who want to copy it.
    async select(field) {
        await field.click({ clickCount: 3 })
    }
}

const stops_max = 120 // more than any page has

/// Runs in the page: whether the focus is where it was to go, and what has it if that cannot be seen.
function look_at_focus(wanted) {
    const element = document.activeElement
    const reached = element === wanted
    if (element === document.body || element === document.documentElement) return { reached } // around, past the last one
    const style = getComputedStyle(element)
    const box = element.getBoundingClientRect()
    const ringed = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2
    const inside = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth
    return { reached, unseen: ringed && inside ? '' : element.outerHTML.slice(0, 120) }
}

export class Keyboard {
    constructor(page) {
        this.page = page
    }

    /// On by Tab, as far as it takes. Wherever the focus stops on the way, it is seen.
    async reach(what) {
        const wanted = await what.elementHandle()
        for (let stops = 0; stops <= stops_max; stops++) {
            const { reached, unseen } = await wanted.evaluate(look_at_focus)
            check(!unseen, `the focus is seen: ${unseen}`)
            if (reached) return
            await this.page.keyboard.press('Tab')
        }
        throw new Error(`${what} is not reached by Tab`)
    }

    async fill(where, text) {
        await this.reach(where)
        await this.page.keyboard.press('Control+A')
        await this.page.keyboard.type(text)
        check((await where.inputValue()) === text, `${text} was typed`)
    }

    async press(what) {
        await this.reach(what)
        const links = await what.evaluate((element) => element.tagName === 'A')
        await this.page.keyboard.press(links ? 'Enter' : 'Space')
    }

    async choose(select, text) {
        await this.reach(select)
        await this.page.keyboard.type(text)
        const chosen = await select.evaluate((element) => element.selectedOptions[0].textContent)
        check(chosen === text, `${text} is chosen, not ${chosen}`)
    }

    async submit(field) {
        await this.reach(field)
        await this.page.keyboard.press('Enter')
    }

    async select(field) {
        await this.reach(field)
        await this.page.keyboard.press('Control+A')
    }
}
