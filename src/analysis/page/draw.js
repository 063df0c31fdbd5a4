// Draws one chart of the page into an element: horizontal bars, stacks and boxes, lines, heat maps.
// All texts go in as text, never as markup.
var falconDraw = (function () {
  'use strict';
  var COLORS = 8, MOST_ROWS = 30, MOST_LINES = 8, patterns = 0;
  var colorOf = {}, colorsUsed = 0;

  function color(key) {
    if (!(('$' + key) in colorOf)) colorOf['$' + key] = colorsUsed++ % COLORS;
    return 'var(--c' + colorOf['$' + key] + ')';
  }
  function phaseColor(index) { return 'var(--c' + index % COLORS + ')'; }

  function number(value) {
    if (value === null || value === undefined) return '';
    var size = Math.abs(value);
    if (size >= 1e15) return value.toExponential(3);
    if (size >= 1000) return Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
    if (size >= 100) return value.toFixed(1);
    if (size >= 1 || size === 0) return String(+value.toFixed(size >= 10 ? 2 : 3));
    return String(+value.toPrecision(3));
  }
  function shorten(text, width) {
    var most = Math.max(6, Math.floor(width / 6.7));
    return text.length <= most ? text : text.slice(0, most - 1) + '\u2026';
  }
  function panelsOf(rows) {
    var order = [], byName = {};
    rows.forEach(function (row) {
      var key = '$' + row.panel;
      if (!byName[key]) { byName[key] = { name: row.panel, rows: [] }; order.push(byName[key]); }
      byName[key].rows.push(row);
    });
    return order;
  }
  function present(row) { return row.values && row.values.length > 0; }
  function largest(rows, of) {
    return d3.max(rows, function (row) { return present(row) ? of(row) : 0; }) || 0;
  }
  function rowLabel(row) { return labelOf(row) + '  n=' + row.runs; }
  function labelOf(row) { return row.label + (row.emulated ? ' (emulated)' : ''); }

  function newSvg(element, width, height, chart) {
    var svg = d3.select(element).append('svg').attr('viewBox', '0 0 ' + width + ' ' + height)
      .attr('width', width).attr('height', height).attr('role', 'img')
      .attr('aria-label', chart.title + '. The table below has the same figures.');
    return svg;
  }
  function addHatch(svg) {
    var id = 'hatch' + patterns++;
    svg.append('defs').append('pattern').attr('id', id).attr('width', 7).attr('height', 7)
      .attr('patternUnits', 'userSpaceOnUse').attr('patternTransform', 'rotate(45)')
      .append('line').attr('class', 'hatch').attr('y2', 7);
    return 'url(#' + id + ')';
  }
  function line(at, kind, x1, y1, x2, y2) {
    return at.append('line').attr('class', kind).attr('x1', x1).attr('y1', y1).attr('x2', x2).attr('y2', y2);
  }
  function text(at, kind, x, y, words, anchor) {
    return at.append('text').attr('class', kind).attr('x', x).attr('y', y)
      .style('text-anchor', anchor || 'start').text(words);
  }
  function rect(at, x, y, width, height, fill) {
    return at.append('rect').attr('x', x).attr('y', y).attr('width', Math.max(0, width)).attr('height', height)
      .attr('rx', 2).style('fill', fill);
  }
  function ticks(at, scale, y1, y2, unit) {
    scale.ticks(Math.max(2, Math.round((scale.range()[1] - scale.range()[0]) / 90))).forEach(function (tick) {
      line(at, 'grid', scale(tick), y1, scale(tick), y2);
      text(at, 'soft', Math.max(scale(tick), 4), y2 + 14, +tick.toPrecision(6) + (unit === '%' ? ' %' : ''), 'middle');
    });
  }

  // Rows under each other, with the label beside the bar, or above it where there is little room.
  function rowsChart(element, chart, all, reach, drawRow) {
    var width = Math.max(280, element.clientWidth || 600);
    var longest = 6.7 * d3.max(chart.rows, function (row) { return rowLabel(row).length; }) + 12;
    var narrow = width < 500 || longest > width * 0.4;
    var labelWidth = narrow ? 0 : longest, valueWidth = 76, rowHeight = narrow ? 40 : 24;
    var panels = panelsOf(chart.rows), hidden = 0;
    panels.forEach(function (panel) {
      panel.shown = all ? panel.rows : panel.rows.slice(0, MOST_ROWS);
      hidden += panel.rows.length - panel.shown.length;
    });
    var common = chart.unit === '%' || chart.reference !== undefined;
    var height = 4;
    panels.forEach(function (panel) { height += 26 + panel.shown.length * rowHeight + (common ? 0 : 20); });
    height += common ? 22 : 0;
    var svg = newSvg(element, width, height, chart), hatch = addHatch(svg);
    var most = largest(chart.rows, reach), y = 4;
    var scaleFor = function (high) {
      var top = chart.unit === '%' ? Math.max(100, high) : high * 1.02 || 1;
      return d3.scale.linear().domain([0, top]).range([labelWidth, width - valueWidth]);
    };
    var scale = scaleFor(most), grid = svg.append('g');
    panels.forEach(function (panel) {
      if (!common) scale = scaleFor(largest(panel.rows, reach));
      text(svg, 'panel', 0, y + 16, panel.name);
      var top = y + 24;
      panel.shown.forEach(function (row, index) {
        var rowTop = top + index * rowHeight, group = svg.append('g');
        group.append('title').text(panel.name + ', ' + labelOf(row) + ' (n = ' + row.runs + ')' +
          (present(row) ? '' : ': ' + row.missing));
        text(group, '', narrow ? 0 : labelWidth - 8, rowTop + (narrow ? 13 : 16),
          shorten(rowLabel(row), narrow ? width : labelWidth - 8), narrow ? 'start' : 'end');
        var barTop = rowTop + (narrow ? 18 : 4);
        if (present(row)) {
          drawRow(group, row, scale, barTop, 16, hatch);
        } else {
          text(group, 'missing', labelWidth + 2, barTop + 12,
            shorten('not available: ' + row.missing, width - labelWidth - 6));
        }
      });
      var bottom = top + panel.shown.length * rowHeight;
      if (!common) ticks(grid, scale, top, bottom, chart.unit);
      y = bottom + (common ? 2 : 20);
    });
    if (common) ticks(grid, scale, 26, y, chart.unit);
    if (chart.reference !== undefined && chart.reference !== null) {
      line(svg, 'reference', scale(chart.reference), 26, scale(chart.reference), y);
    }
    return hidden;
  }

  function bars(element, chart, all) {
    return rowsChart(element, chart, all, function (row) { return row.values[2] || row.values[0]; },
      function (group, row, scale, y, height, hatch) {
        var value = row.values[0], start = scale(0), end = scale(value);
        rect(group, start, y, end - start, height, color(row.color_key));
        if (row.emulated) rect(group, start, y, end - start, height, hatch);
        var low = row.values[1], high = row.values[2];
        if (low !== null && high !== null && high > low) {
          var middle = y + height / 2;
          line(group, 'mark', scale(low), middle, scale(high), middle);
          line(group, 'mark', scale(low), middle - 4, scale(low), middle + 4);
          line(group, 'mark', scale(high), middle - 4, scale(high), middle + 4);
          end = Math.max(end, scale(high));
        }
        text(group, '', end + 6, y + 12, number(value) + (chart.unit === '%' ? ' %' : chart.reference !== undefined ? '\u00d7' : ''));
      });
  }
  function stack(element, chart, all) {
    var sum = function (row) { return d3.sum(row.values, function (value) { return value || 0; }); };
    return rowsChart(element, chart, all, sum, function (group, row, scale, y, height, hatch) {
      var at = 0;
      row.values.forEach(function (value, index) {
        if (!value) return;
        rect(group, scale(at), y, scale(at + value) - scale(at), height, phaseColor(index)).attr('rx', 0)
          .append('title').text(labelOf(row) + ', ' + chart.columns[index] + ': ' + number(value));
        at += value;
      });
      if (row.emulated) rect(group, scale(0), y, scale(at) - scale(0), height, hatch);
      text(group, '', scale(at) + 6, y + 12, number(at) + ' ms');
    });
  }
  function boxes(element, chart, all) {
    return rowsChart(element, chart, all, function (row) { return row.values[5] || row.values[1]; },
      function (group, row, scale, y, height, hatch) {
        var v = row.values, middle = y + height / 2;
        line(group, 'mark', scale(v[0]), middle, scale(v[5]), middle);
        rect(group, scale(v[1]), y, Math.max(2, scale(v[3]) - scale(v[1])), height, color(row.color_key));
        if (row.emulated) rect(group, scale(v[1]), y, scale(v[3]) - scale(v[1]), height, hatch);
        line(group, 'mark', scale(v[2]), y, scale(v[2]), y + height);
        group.append('circle').attr('cx', scale(v[4])).attr('cy', middle).attr('r', 3).style('fill', color(row.color_key));
        text(group, '', scale(v[5]) + 6, y + 12, number(v[1]) + ' ms');
      });
  }

  function lines(element, chart, all) {
    var width = Math.max(280, element.clientWidth || 600), plot = 120, hidden = 0, y = 4;
    var panels = panelsOf(chart.rows.filter(present));
    panels.forEach(function (panel) {
      panel.shown = all ? panel.rows : panel.rows.slice(0, MOST_LINES);
      hidden += panel.rows.length - panel.shown.length;
      panel.keys = Math.ceil(panel.shown.length / Math.max(1, Math.floor(width / 210)));
    });
    var height = d3.sum(panels, function (panel) { return 60 + plot + panel.keys * 17; });
    var svg = newSvg(element, width, height, chart);
    panels.forEach(function (panel) {
      text(svg, 'panel', 0, y + 16, panel.name);
      var top = y + 26, end = largest(panel.rows, function (row) { return row.interval_s * row.values.length; });
      var x = d3.scale.linear().domain([0, end || 1]).range([38, width - 12]);
      var high = Math.max(100, largest(panel.rows, function (row) { return d3.max(row.values); }));
      var v = d3.scale.linear().domain([0, high]).range([top + plot, top]);
      [0, high / 2, high].forEach(function (value) {
        line(svg, 'grid', 38, v(value), width - 12, v(value));
        text(svg, 'soft', 32, v(value) + 4, +value.toPrecision(3), 'end');
      });
      x.ticks(Math.max(2, Math.round(width / 110))).forEach(function (tick) {
        text(svg, 'soft', x(tick), top + plot + 15, +tick.toPrecision(6) + ' s', 'middle');
      });
      panel.shown.forEach(function (row, index) {
        var path = d3.svg.line().defined(function (value) { return value !== null; })
          .x(function (_, i) { return x(row.interval_s * (i + 0.5)); }).y(function (value) { return v(value); });
        svg.append('path').attr('class', 'curve').attr('d', path(row.values)).style('stroke', color(row.color_key))
          .style('stroke-dasharray', row.emulated ? '5 3' : 'none').append('title').text(labelOf(row));
        var perLine = Math.max(1, Math.floor(width / 210)), place = 38 + index % perLine * 210;
        var at = top + plot + 34 + Math.floor(index / perLine) * 17;
        rect(svg, place, at - 9, 10, 10, color(row.color_key));
        text(svg, '', place + 15, at, shorten(labelOf(row), 190));
      });
      y = top + plot + 34 + panel.keys * 17;
    });
    return hidden;
  }

  function heat(element, chart) {
    var width = Math.max(280, element.clientWidth || 600), y = 4;
    var panels = panelsOf(chart.rows), columns = chart.columns;
    var labelWidth = Math.min(150, width * 0.25), cell = Math.min(84, (width - labelWidth) / columns.length);
    var cellHeight = Math.max(14, Math.min(30, cell));
    var height = d3.sum(panels, function (panel) { return 72 + panel.rows.length * cellHeight; });
    var most = largest(chart.rows, function (row) { return d3.max(row.values) || 0; }) || 1;  // one scale for all panels
    var style = getComputedStyle(document.documentElement);  // colours of the theme that holds: page.js draws anew
    var shade = d3.interpolateRgb(style.getPropertyValue('--heat-low').trim(), style.getPropertyValue('--heat-high').trim());
    var svg = newSvg(element, width, height, chart);
    panels.forEach(function (panel) {
      text(svg, 'panel', 0, y + 16, panel.name);
      columns.forEach(function (column, index) {
        text(svg, 'soft', labelWidth + (index + 0.5) * cell, y + 40, shorten(column, cell), 'middle')
          .append('title').text(column);
      });
      panel.rows.forEach(function (row, r) {
        var top = y + 48 + r * cellHeight;
        text(svg, '', labelWidth - 8, top + cellHeight / 2 + 4, shorten(row.label, labelWidth - 8), 'end');
        columns.forEach(function (column, c) {
          var value = present(row) ? row.values[c] : null, group = svg.append('g');
          group.append('title').text(row.label + ' to ' + column + ': ' +
            (value === null ? 'not measured' : number(value) + ' ' + chart.unit));
          var share = value === null ? 0 : value / most;
          rect(group, labelWidth + c * cell + 1, top + 1, cell - 2, cellHeight - 2,
            value === null ? 'transparent' : shade(share));
          if (cell > 34) {
            text(group, '', labelWidth + (c + 0.5) * cell, top + cellHeight / 2 + 4,
              value === null ? '\u2013' : number(value), 'middle')
              .style('fill', share > 0.55 ? 'var(--card)' : 'var(--ink)');
          }
        });
      });
      y += 72 + panel.rows.length * cellHeight;
    });
    return 0;
  }

  var kinds = { bars: bars, stack: stack, boxes: boxes, lines: lines, heat: heat };
  return {
    chart: function (element, chart, all) { return kinds[chart.kind](element, chart, all); },
    number: number, phaseColor: phaseColor, present: present, labelOf: labelOf
  };
})();
