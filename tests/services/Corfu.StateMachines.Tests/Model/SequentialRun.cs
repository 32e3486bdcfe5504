using System.Globalization;
using Corfu.StateMachines.Records;
using Corfu.StateMachines.Tests.Support;

namespace Corfu.StateMachines.Tests.Model;

/// <summary>The machine's sequential run: one plain loop over all records in log order. Reads them as they come, so
/// that a trim takes nothing from it.</summary>
internal sealed class SequentialRun(ICorfuLog log, int maxSessions)
{
    private readonly StreamCursor _cursor = new(log, World.Commands);

    // Least recently used first.
    private readonly List<(long Id, long Below, Dictionary<long, string> Results)> _sessions = [];
    private readonly SortedDictionary<string, long> _totals = new(StringComparer.Ordinal);

    /// <summary>Results by the place of the entry and the command's bytes, which the test makes different.</summary>
    public Dictionary<string, List<(CommandStatus Status, string Result)>> Seen { get; } = [];

    public string Show() => string.Concat(_totals.Select(pair => $"{pair.Key}={pair.Value}\n"));

    /// <summary>How often the session's number has run.</summary>
    public int Runs(string command) =>
        Seen.GetValueOrDefault(command)?.Count(one => one.Status == CommandStatus.Applied) ?? 0;

    public async Task PlayAsync()
    {
        await _cursor.SyncAsync();
        while (await _cursor.ReadNextAsync() is { } entry)
        {
            switch (RecordCodec.Read(entry.Payload))
            {
                case OpenRecord open:
                    if (_sessions.Count == maxSessions) _sessions.RemoveAt(0);
                    _sessions.Add((open.Session, 0, []));
                    break;
                case CloseRecord close:
                    _sessions.RemoveAll(session => session.Id == close.Session);
                    break;
                case CommandsRecord commands:
                    foreach (var command in commands.Commands) Run(command);
                    break;
            }
        }
    }

    private void Run(in Command command)
    {
        var text = SumMachine.Text(command.Body);
        if (!command.HasSession)
        {
            Note(text, CommandStatus.Applied, Add(text));
            return;
        }

        var id = command.Session;
        var at = _sessions.FindIndex(session => session.Id == id);
        if (at < 0)
        {
            Note(text, CommandStatus.SessionGone, "");
            return;
        }

        var (_, below, results) = _sessions[at];
        _sessions.RemoveAt(at);
        _sessions.Add((id, Math.Max(below, command.AnsweredBelow), results));
        if (command.Number < Math.Max(below, command.AnsweredBelow)) Note(text, CommandStatus.Outdated, "");
        else if (results.TryGetValue(command.Number, out var result)) Note(text, CommandStatus.AppliedBefore, result);
        else
        {
            results[command.Number] = Add(text);
            Note(text, CommandStatus.Applied, results[command.Number]);
        }
    }

    private string Add(string text)
    {
        _totals[text] = _totals.GetValueOrDefault(text) + 1;
        return _totals[text].ToString(CultureInfo.InvariantCulture);
    }

    private void Note(string text, CommandStatus status, string result)
    {
        if (!Seen.TryGetValue(text, out var seen)) Seen[text] = seen = [];
        seen.Add((status, result));
    }
}
