// Lays the page out from its data: cards with charts, the table under each, and the plain tables.
(function () {
  'use strict';
  var data = JSON.parse(document.getElementById('data').textContent);
  var root = document.documentElement, drawings = [];

  function make(kind, parent, words, classes) {
    var element = document.createElement(kind);
    if (words !== undefined && words !== null) element.textContent = words;
    if (classes) element.className = classes;
    if (parent) parent.appendChild(element);
    return element;
  }
  function button(parent, words, act) {
    var element = make('button', parent, words);
    element.type = 'button';
    element.addEventListener('click', act);
    return element;
  }

  // Light or dark: what the reader's system says, until the button is used.
  var prefersDark = window.matchMedia('(prefers-color-scheme: dark)');
  function setTheme(theme) {
    root.setAttribute('data-theme', theme);
    drawings.forEach(function (draw) { draw(); });
  }
  setTheme(prefersDark.matches ? 'dark' : 'light');
  if (prefersDark.addEventListener) {
    prefersDark.addEventListener('change', function (change) { setTheme(change.matches ? 'dark' : 'light'); });
  }

  var said = make('div', document.body, '', 'quiet');
  said.setAttribute('role', 'status');
  function say(words) { said.textContent = ''; said.textContent = words; }

  function copy(words) {
    var fall = function () {
      var area = make('textarea', document.body, '', 'quiet');
      area.value = words;
      area.select();
      document.execCommand('copy');
      document.body.removeChild(area);
    };
    if (navigator.clipboard) navigator.clipboard.writeText(words).catch(fall); else fall();
    say('Table copied');
  }

  // Rows of a chart as cells; the first row is the head.
  function cellsOf(chart, points) {
    if (chart.kind === 'heat') {
      return [['', 'from'].concat(chart.columns)].concat(chart.rows.map(function (row) {
        return [row.panel, row.label].concat(row.values);
      }));
    }
    if (chart.kind === 'lines' && points) {
      var all = [['model', 'configuration', 's', 'value, ' + chart.unit]];
      chart.rows.forEach(function (row) {
        row.values.forEach(function (value, i) { all.push([row.panel, row.label, row.interval_s * (i + 1), value]); });
      });
      return all;
    }
    var columns = chart.kind === 'lines' ? ['mean, ' + chart.unit, 'smallest', 'largest', 'points'] : chart.columns;
    var head = ['model', 'configuration', 'runs', 'emulated'].concat(columns);
    return [head].concat(chart.rows.map(function (row) {
      var values = row.values;
      if (chart.kind === 'lines' && falconDraw.present(row)) {
        values = [d3.mean(row.values), d3.min(row.values), d3.max(row.values), row.values.length];
      }
      var cells = columns.map(function (_, i) {
        var there = falconDraw.present(row) && values[i] !== null && values[i] !== undefined;
        return there ? values[i] : (row.missing ? 'n/a: ' + row.missing : 'n/a');
      });
      return [row.panel, row.label, row.runs, row.emulated ? 'yes' : 'no'].concat(cells);
    }));
  }
  function tabText(cells) {
    return cells.map(function (row) {
      return row.map(function (cell) {
        return cell === null || cell === undefined ? '' : String(cell).replace(/[\t\r\n]+/g, ' ');
      }).join('\t');
    }).join('\n');
  }
  function addTable(parent, cells, title) {
    var box = make('div', parent, null, 'scroll');
    box.tabIndex = 0;
    box.setAttribute('role', 'region');
    box.setAttribute('aria-label', 'Table: ' + title);
    var table = make('table', box), head = make('tr', make('thead', table)), body = make('tbody', table);
    cells[0].forEach(function (cell) { make('th', head, cell).scope = 'col'; });
    cells.slice(1).forEach(function (row) {
      var line = make('tr', body);
      row.forEach(function (cell) {
        var isNumber = typeof cell === 'number';
        var missing = cell === null || String(cell).slice(0, 3) === 'n/a';
        make('td', line, cell === null ? 'n/a' : isNumber ? falconDraw.number(cell) : cell,
          isNumber ? 'number' : missing ? 'missing' : '');
      });
    });
  }

  // The drawing alone, with the colours that it has now.
  function saveSvg(svg, name) {
    var clone = svg.cloneNode(true), from = svg.querySelectorAll('*'), to = clone.querySelectorAll('*');
    var keep = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font-size', 'font-weight', 'font-style', 'text-anchor'];
    for (var i = 0; i < from.length; i++) {
      var style = getComputedStyle(from[i]);
      keep.forEach(function (name) {
        if (style.getPropertyValue(name)) to[i].style.setProperty(name, style.getPropertyValue(name));
      });
    }
    var ground = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    ground.setAttribute('width', '100%');
    ground.setAttribute('height', '100%');
    ground.setAttribute('fill', getComputedStyle(svg.parentNode.parentNode).backgroundColor);
    clone.insertBefore(ground, clone.firstChild);
    clone.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    clone.setAttribute('font-family', 'system-ui, sans-serif');
    clone.setAttribute('font-size', '12');
    var link = make('a', document.body);
    link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(clone)], { type: 'image/svg+xml' }));
    link.download = name + '.svg';
    link.click();
    document.body.removeChild(link);
    say('Chart saved as ' + name + '.svg');
  }

  function cardOf(parent, thing, kind, wide) {
    var card = make(kind, parent, null, 'card' + (wide ? ' wide' : ''));
    card.id = thing.id;
    make('h2', card, thing.title + (thing.unit && thing.reference === undefined ? ', ' + thing.unit : '')).id = thing.id + '-title';
    card.setAttribute('aria-labelledby', thing.id + '-title');
    if (thing.note) make('p', card, thing.note, 'note');
    return card;
  }
  function addChart(parent, chart) {
    var card = cardOf(parent, chart, 'figure', ['stack', 'heat', 'lines'].indexOf(chart.kind) >= 0 || chart.id === 'training_time');
    if (chart.empty) {
      make('p', card, 'Nothing to draw: ' + chart.empty + '.', 'empty');
      card.setAttribute('data-drawn', 'empty');
      return;
    }
    if (chart.kind === 'stack') {
      var legend = make('ul', card, null, 'legend');
      chart.columns.forEach(function (name, index) {
        var item = make('li', legend);
        make('i', item).style.background = falconDraw.phaseColor(index);
        item.appendChild(document.createTextNode(name));
      });
    }
    var place = make('div', card), all = false, tools = make('div', card, null, 'tools');
    button(tools, 'Save as SVG', function () { saveSvg(place.querySelector('svg'), 'falconbench-' + chart.id); })
      .setAttribute('aria-label', 'Save as SVG: ' + chart.title);
    button(tools, 'Copy table', function () { copy(tabText(cellsOf(chart, true))); })
      .setAttribute('aria-label', 'Copy table: ' + chart.title);
    var more = button(tools, '', function () { all = true; draw(); });
    function draw() {
      place.textContent = '';
      var hidden = falconDraw.chart(place, chart, all);
      more.hidden = hidden === 0;
      more.textContent = 'Show ' + hidden + ' more';
      card.setAttribute('data-drawn', place.querySelector('svg') ? 'yes' : 'no');
    }
    draw();
    drawings.push(draw);
    var details = make('details', card);
    make('summary', details, 'Table: ' + chart.rows.length + (chart.rows.length === 1 ? ' row' : ' rows'));
    details.addEventListener('toggle', function () {
      if (details.open && !details.querySelector('table')) addTable(details, cellsOf(chart), chart.title);
    });
  }
  function addPlainTable(parent, table) {
    var card = cardOf(parent, table, 'section', true);
    if (table.rows.length < 2) {
      make('p', card, 'None.', 'empty');
      return;
    }
    addTable(card, table.rows, table.title);
    button(make('div', card, null, 'tools'), 'Copy table', function () { copy(tabText(table.rows)); })
      .setAttribute('aria-label', 'Copy table: ' + table.title);
  }

  var header = make('header'), skip = document.getElementById('skip');
  document.body.insertBefore(header, skip.nextSibling);
  var head = make('div', header, null, 'head'), titles = make('div', head);
  make('h1', titles, data.title);
  make('p', titles, data.subtitle, 'sub');
  button(head, 'Light / dark', function () { setTheme(root.getAttribute('data-theme') === 'dark' ? 'light' : 'dark'); });
  data.notices.forEach(function (notice) { make('p', header, notice, 'notice'); });
  var nav = make('nav', header), main = make('main');
  nav.setAttribute('aria-label', 'On this page');
  main.id = 'main';
  header.parentNode.insertBefore(main, header.nextSibling);
  data.answers.concat(data.charts, data.tables).forEach(function (thing) {
    make('a', nav, thing.title).href = '#' + thing.id;
  });
  data.answers.forEach(function (table) { addPlainTable(main, table); });
  data.charts.forEach(function (chart) { addChart(main, chart); });
  data.tables.forEach(function (table) { addPlainTable(main, table); });

  var width = window.innerWidth, waiting = null;
  window.addEventListener('resize', function () {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(function () { drawings.forEach(function (draw) { draw(); }); }, 150);
  });
  root.setAttribute('data-ready', 'yes');
})();
