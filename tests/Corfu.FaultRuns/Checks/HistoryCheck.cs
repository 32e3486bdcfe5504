using System.Globalization;

namespace Corfu.FaultRuns.Checks;

/// <summary>The histories of all clients against what a fresh client found at the end, and against real time. Knows
/// numbers and names only.</summary>
public sealed class HistoryCheck
{
    private const int MaxTold = 20;

    private sealed class Append
    {
        public long Began;
        public long Ended = long.MaxValue;
        public string Outcome = "unknown";
        public long Position = -1;
    }

    private readonly Dictionary<string, Append> _appends = [];
    private readonly List<(long Began, long Ended, long Position, string What)> _reads = [];
    private readonly List<(long Began, long Ended, long Tail)> _checks = [];
    private readonly List<(string Client, ulong Stream, long Position,
        List<(long Position, string Id)> Played)> _followers = [];
    private readonly Dictionary<long, string> _log = [];
    private readonly Dictionary<ulong, List<(long Position, string Id)>> _streams = [];
    private readonly List<string> _violations = [];
    private long _tail;
    private int _compared;
    private int _syncs;
    private bool _audited;

    public int Violations { get; private set; }

    public IReadOnlyList<string> Told => _violations;

    public string Summary =>
        $"appends {_appends.Count}: {Count("appended")} acknowledged, {Count("refused")} refused, {Count("unknown")} "
        + "unknown; " +
        $"reads {_reads.Count}; checks {_checks.Count}; stream syncs {_syncs}; log {_tail} positions, "
        + $"{_log.Values.Count(v => v == "junk")} junk; replicas compared {_compared}";

    public void Load(IEnumerable<string> histories, string audit)
    {
        foreach (var file in histories) LoadHistory(file);
        foreach (var line in File.ReadLines(audit)) TakeAudit(line.Split('\t'));
        if (!_audited) Violate("the audit did not come to its end");
    }

    public void Check()
    {
        CheckAppends();
        CheckOrder();
        CheckReads();
        CheckTails();
        CheckStreams();
    }

    private int Count(string outcome) => _appends.Values.Count(a => a.Outcome == outcome);

    private void LoadHistory(string file)
    {
        var name = Path.GetFileNameWithoutExtension(file);
        var played = new Dictionary<ulong, List<(long, string)>>();
        foreach (var line in File.ReadLines(file))
        {
            var words = line.Split('\t');

            // A kill may tear the last line.
            if (words.Length < 2 && words[0] != "end") continue;
            switch (words[0])
            {
                case "append" when words.Length == 3:
                    _appends[words[1]] = new Append { Began = Number(words[2]) };
                    break;
                case "appended" when words.Length == 5:
                    var append = _appends[words[1]];
                    (append.Outcome, append.Ended, append.Position) = ("appended", Number(words[2]), Number(words[3]));
                    break;
                case "refused" when words.Length >= 3:
                    _appends[words[1]].Outcome = "refused";
                    break;
                case "read" when words.Length == 5:
                    _reads.Add((Number(words[1]), Number(words[2]), Number(words[3]), words[4]));
                    break;
                case "check" when words.Length == 4:
                    _checks.Add((Number(words[1]), Number(words[2]), Number(words[3])));
                    break;
                case "play" when words.Length == 4:
                    if (!played.TryGetValue(ulong.Parse(words[1]), out var list))
                        played[ulong.Parse(words[1])] = list = [];
                    list.Add((Number(words[2]), words[3]));
                    break;
                case "synced" when words.Length == 5:
                    _syncs++;
                    var stream = ulong.Parse(words[1]);
                    _followers.RemoveAll(f => f.Client == name);
                    _followers.Add((name, stream, Number(words[2]), [.. played.GetValueOrDefault(stream) ?? []]));
                    break;
                case "unexpected":
                    Violate($"{name}: unexpected: {words[^1]}");
                    break;
            }
        }
    }

    private void TakeAudit(string[] words)
    {
        switch (words[0])
        {
            case "tail":
                _tail = Number(words[1]);
                break;
            case "log":
                _log[Number(words[1])] = words[2];
                break;
            case "stream":
                if (!_streams.TryGetValue(ulong.Parse(words[1]), out var list))
                    _streams[ulong.Parse(words[1])] = list = [];
                list.Add((Number(words[2]), words[3]));
                break;
            case "replica":
                Violate($"replicas at {words[1]}: {words[2]}");
                break;
            case "compared":
                _compared += int.Parse(words[1]) * int.Parse(words[2]);
                break;
            case "end":
                _audited = true;
                break;
        }
    }

    // Nothing lost, nothing twice, nothing invented.
    private void CheckAppends()
    {
        var found = new Dictionary<string, long>();
        for (var p = 0L; p < _tail; p++)
        {
            var what = _log.GetValueOrDefault(p, "nothing");
            if (what is not "junk" && !what.StartsWith("data ", StringComparison.Ordinal)) Violate($"{p} holds {what}");
            if (!what.StartsWith("data ", StringComparison.Ordinal)) continue;
            var id = what[5..];
            if (!found.TryAdd(id, p)) Violate($"{id} stands at {found[id]} and at {p}");
            if (!_appends.TryGetValue(id, out var append)) Violate($"{p} holds {id}, which nobody appended");
            else if (append.Outcome == "refused") Violate($"{id} was refused, and stands at {p}");
        }

        foreach (var (id, append) in _appends)
        {
            if (append.Outcome == "appended" && (!found.TryGetValue(id, out var at) || at != append.Position))
                Violate(
                    $"{id} was acknowledged at {append.Position}, which holds "
                    + $"{_log.GetValueOrDefault(append.Position, "nothing")}");
        }
    }

    // Acknowledged before another began: stands before it.
    private void CheckOrder()
    {
        var highest = new Highest(_appends.Values.Where(a => a.Outcome == "appended")
            .Select(a => (a.Ended, a.Position)));
        foreach (var (id, append) in _appends)
        {
            if (append.Outcome == "appended" && highest.Before(append.Began) >= append.Position)
                Violate(
                    $"{id} stands at {append.Position}, and began after {highest.Before(append.Began)} was "
                    + "acknowledged");
        }
    }

    private void CheckReads()
    {
        var acknowledged = new Dictionary<long, long>();
        foreach (var (id, append) in _appends)
        {
            if (append.Outcome == "appended" && !acknowledged.TryAdd(append.Position, append.Ended))
                Violate($"two appends were acknowledged at {append.Position}, one of them {id}");
        }

        foreach (var (began, _, position, what) in _reads)
        {
            // Not granted in the reader's epoch, or not yet: no client had got an acknowledgement of it.
            if (what == "unwritten")
            {
                if (acknowledged.TryGetValue(position, out var ended) && ended < began)
                    Violate($"a reader was shown nothing at {position} after it was acknowledged");
                continue;
            }

            var now = _log.GetValueOrDefault(position, "nothing");
            if (what != now) Violate($"a reader was shown {what} at {position}, which holds {now}");
        }
    }

    private void CheckTails()
    {
        var highest = new Highest(_appends.Values.Where(a => a.Outcome == "appended")
            .Select(a => (a.Ended, a.Position)));
        foreach (var (began, _, tail) in _checks)
        {
            if (tail <= highest.Before(began))
                Violate($"a check said {tail} after {highest.Before(began)} was acknowledged");
        }
    }

    private void CheckStreams()
    {
        for (var i = 0; i < Clients.EntryText.Streams; i++)
        {
            var stream = Clients.EntryText.Stream(i).Value;
            var exact = Exact(stream, long.MaxValue);
            if (!exact.SequenceEqual(_streams.GetValueOrDefault(stream) ?? []))
                Violate($"a fresh reader of stream {stream} was shown another stream than the log holds");
        }

        foreach (var (client, stream, position, played) in _followers)
        {
            if (!Exact(stream, position).SequenceEqual(played.Where(p => p.Position < position)))
                Violate($"{client} was shown another stream {stream} below {position} than the log holds");
        }
    }

    private IEnumerable<(long Position, string Id)> Exact(ulong stream, long below) =>
        from p in _log.Keys.Order()
        where p < below && _log[p].StartsWith("data ", StringComparison.Ordinal)
            && Clients.EntryText.StreamOf(_log[p][5..]).Value == stream
        select (p, _log[p][5..]);

    private void Violate(string what)
    {
        if (Violations++ < MaxTold) _violations.Add(what);
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);

    /// <summary>The highest position acknowledged before a moment.</summary>
    private sealed class Highest
    {
        private readonly long[] _times;
        private readonly long[] _highest;

        public Highest(IEnumerable<(long Ended, long Position)> acknowledged)
        {
            var sorted = acknowledged.OrderBy(a => a.Ended).ToList();
            _times = [.. sorted.Select(a => a.Ended)];
            _highest = new long[sorted.Count];
            var above = -1L;
            for (var i = 0; i < sorted.Count; i++) _highest[i] = above = Math.Max(above, sorted[i].Position);
        }

        public long Before(long moment)
        {
            var at = Array.BinarySearch(_times, moment);
            at = at < 0 ? ~at : at;
            while (at > 0 && _times[at - 1] == moment) at--;
            return at == 0 ? -1 : _highest[at - 1];
        }
    }
}
