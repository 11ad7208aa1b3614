// Unwedge: times in the zone of the browser, and ages that go on. The shapes
// are those of views/clock.go; without script the page has them in the
// configured zone.
(() => {
  "use strict";
  const root = document.documentElement;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
  const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
  const numeric = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric",
    hour: "2-digit", minute: "2-digit", second: "2-digit",
  });
  const named = new Intl.DateTimeFormat(navigator.language || "en", { timeZone: zone, timeZoneName: "short" });

  // The page tells of its own instant; from there the browser's clock counts,
  // whatever it shows.
  let told = Date.parse(root.dataset.now), heard = performance.now();
  const now = () => told + (performance.now() - heard);

  const two = (n) => String(n).padStart(2, "0");

  // local has the fields of an instant in this zone. Its offset is what they
  // differ by from the instant, in minutes.
  const local = (ms) => {
    const p = Object.fromEntries(numeric.formatToParts(ms).map((x) => [x.type, Number(x.value)]));
    const asUTC = Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second);
    return { ...p, weekday: new Date(asUTC).getUTCDay(), offset: Math.round((asUTC - Math.floor(ms / 1000) * 1000) / 60000) };
  };
  const offsetText = (minutes) => {
    const m = Math.abs(minutes);
    return `${minutes < 0 ? "-" : "+"}${two(Math.floor(m / 60))}:${two(m % 60)}`;
  };
  // Where the browser is in the configured zone, the server's name for it is
  // better than what browsers call zones of other languages (IST, not GMT+5:30).
  const server = (() => {
    try { return new Intl.DateTimeFormat("en", { timeZone: root.dataset.zone }).resolvedOptions().timeZone; } catch { return ""; }
  })();
  const zoneName = (ms) => {
    if (server === zone && local(ms).offset === local(now()).offset) return root.dataset.zoneShort;
    const name = named.formatToParts(ms).find((x) => x.type === "timeZoneName")?.value ?? "";
    return /^(GMT|UTC)?[+\-\u2212]|^$|^GMT./.test(name) ? `UTC${offsetText(local(ms).offset)}` : name;
  };

  const age = (ms) => {
    const s = Math.max(0, Math.floor(ms / 1000));
    const pair = (n, unit, rest, restUnit) => `${n.toLocaleString("en")} ${unit}${rest ? ` ${rest} ${restUnit}` : ""}`;
    if (s < 60) return `${s} s`;
    if (s < 3600) return `${Math.floor(s / 60)} min`;
    if (s < 86400) return pair(Math.floor(s / 3600), "h", Math.floor(s / 60) % 60, "min");
    return pair(Math.floor(s / 86400), "d", Math.floor(s / 3600) % 24, "h");
  };

  const written = (ms, as) => {
    if (as === "age") return age(now() - ms);
    if (as === "ago") return `${age(now() - ms)} ago`;
    if (as === "until") return ms < now() ? `${age(now() - ms)} ago` : `in ${age(ms - now())}`;
    const t = local(ms), today = local(now());
    const hm = `${two(t.hour)}:${two(t.minute)}`;
    const year = t.year === today.year ? "" : ` ${t.year}`;
    const date = `${days[t.weekday].slice(0, 3)} ${t.day} ${months[t.month - 1].slice(0, 3)}${year}`;
    const dated = year === "" && t.month === today.month && t.day === today.day ? "" : `${date} `;
    const elsewhere = t.offset === today.offset ? "" : ` ${offsetText(t.offset)}`;
    switch (as) {
      case "exact": return `${t.year}-${two(t.month)}-${two(t.day)} ${hm}:${two(t.second)}.${String(((ms % 1000) + 1000) % 1000).padStart(3, "0")} ${offsetText(t.offset)}`;
      case "long": return `${days[t.weekday]} ${t.day} ${months[t.month - 1]}${year}, ${hm} ${zoneName(ms)}`;
      case "day": return date;
      case "zoned": return `${dated}${hm} ${zoneName(ms)}`;
      case "second": return `${dated}${hm}:${two(t.second)}${elsewhere}`;
      default: return `${dated}${hm}${elsewhere}`;
    }
  };

  const put = (el, text) => { if (el.textContent !== text) el.textContent = text; };
  const write = (selector) => {
    for (const el of document.querySelectorAll(selector)) {
      const ms = Date.parse(el.dateTime);
      if (!Number.isNaN(ms)) put(el, written(ms, el.dataset.as));
    }
  };
  const ages = "time[data-as=age], time[data-as=ago], time[data-as=until]";
  const all = () => {
    write("time[data-as]");
    const short = zoneName(now()), offset = `UTC${offsetText(local(now()).offset)}`;
    for (const el of document.querySelectorAll("[data-zone-label]")) put(el, short);
    for (const el of document.querySelectorAll("[data-zone-long]")) put(el, short === offset || short === "UTC" ? short : `${short} (${offset})`);
  };

  all();
  setInterval(() => { if (!document.hidden) write(ages); }, 1000);
  document.addEventListener("unwedge:fresh", () => {
    told = Date.parse(root.dataset.now);
    heard = performance.now();
    all();
  });
})();
