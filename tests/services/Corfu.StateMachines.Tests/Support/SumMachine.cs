using System.Globalization;
using System.Text;

namespace Corfu.StateMachines.Tests.Support;

/// <summary>Totals by key. A command "KEY" adds 1 to the key, and its result is the new total. "throw" throws,
/// "clock" gives what differs from process to process, "time" gives the context's time.</summary>
internal sealed class SumMachine : IStateMachine
{
    /// <summary>The result of "clock" in this process.</summary>
    public string Clock { get; init; } = "";

    public SortedDictionary<string, long> Totals { get; private set; } = new(StringComparer.Ordinal);

    public int Applied { get; private set; }

    public int Captures { get; private set; }

    public static ReadOnlyMemory<byte> Bytes(string text) => Encoding.UTF8.GetBytes(text);

    public static string Text(ReadOnlyMemory<byte> bytes) => Encoding.UTF8.GetString(bytes.Span);

    public ReadOnlyMemory<byte> Apply(ReadOnlyMemory<byte> command, in CommandContext context)
    {
        Applied++;
        var key = Text(command);
        if (key == "throw") throw new InvalidOperationException("as asked");
        if (key == "clock") return Bytes(Clock);
        if (key == "time") return Bytes(context.Time.UtcTicks.ToString(CultureInfo.InvariantCulture));
        Totals[key] = Totals.GetValueOrDefault(key) + 1;
        return Bytes(Totals[key].ToString(CultureInfo.InvariantCulture));
    }

    public IMachineSnapshot Capture()
    {
        Captures++;
        return new Snapshot(Show());
    }

    public async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default)
    {
        using var reader = new StreamReader(snapshot);
        while (await reader.ReadLineAsync(cancellationToken) is { } line)
        {
            var cut = line.LastIndexOf('=');
            Totals[line[..cut]] = long.Parse(line[(cut + 1)..], CultureInfo.InvariantCulture);
        }
    }

    public string Show() => string.Concat(Totals.Select(pair => $"{pair.Key}={pair.Value}\n"));

    private sealed class Snapshot(string text) : IMachineSnapshot
    {
        public ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            destination.WriteAsync(Encoding.UTF8.GetBytes(text), cancellationToken);

        public void Dispose()
        {
        }
    }
}
