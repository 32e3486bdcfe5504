using System.Globalization;
using Corfu.FaultRuns.Clients;

namespace Corfu.FaultRuns.Checks;

/// <summary>Reads the histories of all clients and the answers that a fresh client got at the end, and has the log's
/// checkers judge them.</summary>
public sealed class HistoryCheck
{
    private const int MaxTold = 20;
    private const int Auditor = -1;

    private sealed class Append(int client, long began)
    {
        public int Client => client;
        public long Began => began;
        public long Ended = LogHistory.Never;
        public AppendFate Fate = AppendFate.Unknown;
        public long Position = -1;
    }

    // Entries are named by their clients; to the checkers a payload is a number.
    private readonly Dictionary<string, long> _numbers = [];
    private readonly List<string> _names = [];
    private readonly Dictionary<string, Append> _appends = [];
    private readonly Dictionary<int, StreamReadOp> _followers = [];
    private readonly Dictionary<long, string> _log = [];
    private readonly Dictionary<ulong, List<(long Position, long Payload)>> _streams = [];
    private readonly List<string> _violations = [];
    private readonly LogHistory _history;
    private long _tail;
    private int _compared;
    private int _syncs;
    private bool _audited;

    public HistoryCheck() => _history = new LogHistory { Name = number => _names[(int)number] };

    public int Violations { get; private set; }

    public IReadOnlyList<string> Told => _violations;

    public string Summary =>
        $"appends {_appends.Count}: {Count(AppendFate.Acknowledged)} acknowledged, "
        + $"{Count(AppendFate.Refused)} refused, {Count(AppendFate.Unknown)} unknown; reads {_history.Reads.Count}; "
        + $"checks {_history.Tails.Count}; stream syncs {_syncs}; log {_tail} positions, "
        + $"{_log.Values.Count(v => v == "junk")} junk; replicas compared {_compared}";

    public void Load(IEnumerable<string> histories, string audit)
    {
        foreach (var (client, file) in histories.Index()) LoadHistory(client, file);
        foreach (var line in File.ReadLines(audit)) TakeAudit(line.Split('\t'));
        if (!_audited) Violate("the audit did not come to its end");
    }

    public void Check()
    {
        foreach (var (id, append) in _appends)
        {
            _history.Appends.Add(new AppendOp(append.Client, NumberOf(id), [EntryText.StreamOf(id).Value],
                append.Began, append.Ended, append.Fate, append.Position));
        }

        for (var p = 0L; p < _tail; p++) _history.Final.Add(FinalAt(p));
        _history.StreamReads.AddRange(_followers.Values);
        for (var i = 0; i < EntryText.Streams; i++)
        {
            var stream = EntryText.Stream(i).Value;
            _history.StreamReads.Add(new StreamReadOp(Auditor, stream, LogHistory.Never, LogHistory.Never,
                _streams.GetValueOrDefault(stream) ?? [])
            { Until = _tail });
        }

        foreach (var violation in LogChecker.CheckAll(_history)) Violate(violation.ToString());
    }

    private int Count(AppendFate fate) => _appends.Values.Count(a => a.Fate == fate);

    private void LoadHistory(int client, string file)
    {
        var name = Path.GetFileNameWithoutExtension(file);
        var played = new Dictionary<ulong, List<(long, long)>>();
        foreach (var line in File.ReadLines(file))
        {
            var words = line.Split('\t');

            // A kill may tear the last line.
            if (words.Length < 2 && words[0] != "end") continue;
            switch (words[0])
            {
                case "append" when words.Length == 3:
                    _appends[words[1]] = new Append(client, Number(words[2]));
                    break;
                case "appended" when words.Length == 5:
                    var append = _appends[words[1]];
                    (append.Fate, append.Ended, append.Position) =
                        (AppendFate.Acknowledged, Number(words[2]), Number(words[3]));
                    break;
                case "refused" when words.Length >= 3:
                    _appends[words[1]].Fate = AppendFate.Refused;
                    break;
                case "read" when words.Length == 5:
                    TakeRead(client, words);
                    break;
                case "check" when words.Length == 4:
                    _history.Tails.Add(new TailOp(client, Number(words[1]), Number(words[2]), Number(words[3])));
                    break;
                case "play" when words.Length == 4:
                    if (!played.TryGetValue(ulong.Parse(words[1]), out var list))
                        played[ulong.Parse(words[1])] = list = [];
                    list.Add((Number(words[2]), NumberOf(words[3])));
                    break;
                case "synced" when words.Length == 5:
                    _syncs++;
                    var stream = ulong.Parse(words[1]);
                    _followers[client] = new StreamReadOp(client, stream, Number(words[3]), Number(words[4]),
                        [.. played.GetValueOrDefault(stream) ?? []])
                    { Until = Number(words[2]) };
                    break;
                case "unexpected":
                    Violate($"{name}: unexpected: {words[^1]}");
                    break;
            }
        }
    }

    private void TakeRead(int client, string[] words)
    {
        var (position, what) = (Number(words[3]), words[4]);
        if (KindOf(what) is { } kind)
            _history.Reads.Add(new ReadOp(
                client, position, Number(words[1]), Number(words[2]), kind, PayloadOf(what)));
        else Violate($"a reader was shown {what} at {position}");
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
                list.Add((Number(words[2]), NumberOf(words[3])));
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

    private FinalEntry FinalAt(long position)
    {
        var what = _log.GetValueOrDefault(position, "unwritten");
        var kind = KindOf(what);
        if (kind is null) Violate($"{position} holds {what}");
        ulong[] streams = kind == SeenKind.Data ? [EntryText.StreamOf(NameIn(what)).Value] : [];
        return new FinalEntry(position, kind ?? SeenKind.Unwritten, PayloadOf(what), streams, []);
    }

    private static SeenKind? KindOf(string what) => what switch
    {
        "unwritten" => SeenKind.Unwritten,
        "junk" => SeenKind.Junk,
        "trimmed" => SeenKind.Trimmed,
        _ when IsData(what) => SeenKind.Data,
        _ => null,
    };

    private static bool IsData(string what) => what.StartsWith("data ", StringComparison.Ordinal);

    private static string NameIn(string what) => what["data ".Length..];

    private long PayloadOf(string what) => NumberOf(IsData(what) ? NameIn(what) : "");

    private long NumberOf(string name)
    {
        if (!_numbers.TryGetValue(name, out var number))
        {
            _numbers.Add(name, number = _names.Count);
            _names.Add(name);
        }

        return number;
    }

    private void Violate(string what)
    {
        if (Violations++ < MaxTold) _violations.Add(what);
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}
