// Visits every page in one language: no word is too wide, and no link or form leads to another language.

import { check } from './protocol.mjs'

export class TranslatedPages {
    constructor({ page, inspector, config }) {
        Object.assign(this, { page, inspector, config })
    }

    async go(path, name) {
        await this.page.goto(new URL(path, this.config.auth).href)
        await this.inspect(name)
    }

    async inspect(name) {
        const { language, targets } = await this.page.evaluate(() => ({
            language: document.documentElement.lang,
            targets: [...document.querySelectorAll('a[href]:not([hreflang]):not([rel~=external]), form')]
                .map((each) => new URL(each.getAttribute('href') ?? each.getAttribute('action'), location.href))
                .filter((url) => url.origin === location.origin)
                .map((url) => url.pathname),
        }))
        check(language === this.config.language, `in ${this.config.language}, not ${language}`)
        for (const each of targets)
            check(each.startsWith(`/${this.config.language}/`) || each.startsWith('/docs/'), `${each} on ${this.page.url()}`)
        await this.inspector.inspect(name)
    }

    async submit(name) {
        await Promise.all([this.page.waitForNavigation(), this.page.locator('main form button:not([type=button])').last().click()])
        await this.inspect(name)
    }

    field(name) {
        return this.page.locator(`[name="${name}"]`)
    }

    async sign_in(name, login, password) {
        await this.go(`/${this.config.language}/user/sign_in/`, `${name}_sign_in`)
        await this.field('login').fill(login)
        await this.field('password').fill(password)
        await this.submit(`${name}_signed_in`)
    }

    async every_page(name) {
        const links = await this.page.locator('body > nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
        check(links.length > 4, 'a navigation with links')
        for (const path of links) await this.go(path, name + path.replace(/\W+/g, '_'))
    }

    async run() {
        const settings = `/${this.config.language}/user/settings/`
        await this.sign_in('wrong', 'nobody', 'x')
        await this.sign_in('empty', this.config.empty.login, this.config.empty.password)
        await this.every_page('empty')
        await this.go(`/${this.config.language}/user/sign_out/`, 'sign_out')
        await this.submit('signed_out')
        await this.sign_in('full', this.config.login, this.config.password)
        await this.every_page('full')
        await this.go(settings + 'tokens/', 'tokens')
        await this.page.locator('.items [popovertarget]').first().click()
        await this.inspect('token_confirmation')
        await this.page.keyboard.press('Escape')
        await this.field('description').fill('x')
        await this.submit('token_invalid')
        await this.page.locator('[value="user:balance"]').check()
        await this.submit('token_created')
        await this.go(settings + 'applications/', 'applications')
        await this.page.locator('.items a.button').last().click()
        await this.inspect('application_edit')
        const { id, redirect } = this.config.long
        const parameters = new URLSearchParams({ client_id: id, response_type: 'code', scope: 'user:balance,sitesmaker:read,itemplatform', redirect_uri: redirect })
        await this.go(`/${this.config.language}/user/oauth/?${parameters}`, 'consent')
        await this.go(`/${this.config.language}/user/oauth/?client_id=nobody`, 'consent_unknown')
        await this.go(`/${this.config.language}/user/device/`, 'device')
        await this.field('user_code').fill('AAAA')
        await this.submit('device_invalid')
        await this.go(`/${this.config.language}/nothing`, 'not_found')
    }
}
