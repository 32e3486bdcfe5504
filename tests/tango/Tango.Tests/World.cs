using Corfu;
using Microsoft.Extensions.Logging;
using Tango.Testing;

namespace Tango.Tests;

/// <summary>An in-memory log and the runtimes on it.</summary>
internal sealed class World(InMemoryLogOptions? options = null, TimeProvider? time = null, bool realCursor = false)
    : IAsyncDisposable
{
    private readonly List<TangoRuntime> _runtimes = [];

    /// <summary>Period of idle playback of all runtimes. None unless a test asks for it: most hold that something
    /// happens without it.</summary>
    public TimeSpan? IdlePlayback { get; init; }

    /// <summary>Who decides the transactions of all runtimes; null: as their options say. Playback, whatever the
    /// default of the options is: most tests of outcomes look for decision records, or stop time between a record and
    /// its decision. Tests of the other way have <c>DecisionWorld</c>.</summary>
    public TransactionDecisions? Decider { get; init; } = TransactionDecisions.Playback;

    public InMemoryCorfuLog Log { get; } = new(options);

    public TangoRuntime NewRuntime(TangoOptions? options = null, ILogger? logger = null)
    {
        var runtime = new TangoRuntime(Log, realCursor ? () => new StreamCursor(Log) : Log.OpenCursor,
            time ?? TimeProvider.System, SystemEntropy.Instance, With(options), logger, SeededContext.Loops);
        _runtimes.Add(runtime);
        return runtime;
    }

    public TangoRuntime NewRuntime(Func<IStreamCursor> openCursor, TimeProvider clock)
    {
        var runtime = new TangoRuntime(Log, openCursor, clock, SystemEntropy.Instance, With(null),
            loops: SeededContext.Loops);
        _runtimes.Add(runtime);
        return runtime;
    }

    public async ValueTask<(TangoRuntime Runtime, Accounts Accounts)> OpenAccountsAsync(string name = "accounts")
    {
        var runtime = NewRuntime();
        return (runtime, await runtime.OpenAsync<Accounts>(name, OpenMode.Create));
    }

    public async ValueTask<LogPosition> TailAsync() => (await Log.CheckAsync([])).Tail;

    private TangoOptions With(TangoOptions? options)
    {
        var given = (options ?? new TangoOptions()) with { IdlePlayback = IdlePlayback };
        return Decider is { } decider ? given with { Decisions = decider } : given;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var runtime in _runtimes) await runtime.DisposeAsync();
    }
}
