using Corfu;
using Tango.Testing;

namespace Tango.Collections.Tests;

/// <summary>A log and processes with a runtime each, in virtual time: each can die, or stop for a while.</summary>
internal sealed class CoordinationWorld(TimeProvider time) : IAsyncDisposable
{
    private readonly List<Process> _processes = [];
    private readonly InMemoryCorfuLog _log = new();

    public static void Run(int seed, Func<CoordinationWorld, VirtualTime, Task> body) =>
        SeededContext.Run(seed, async time =>
        {
            await using var world = new CoordinationWorld(time);
            await body(world, time);
        });

    public InMemoryCorfuLog Log => _log;

    /// <summary>The positions that were granted.</summary>
    public async Task<long> CountEntriesAsync() => (await _log.CheckAsync([])).Tail.Offset;

    public Process NewProcess(
        IEntropy? entropy = null, Func<IStreamCursor, IStreamCursor>? cursor = null, TangoOptions? options = null)
    {
        var clock = new StoppableTime(time);
        var runtime = new TangoRuntime(
            _log, () => cursor is null ? _log.OpenCursor() : cursor(_log.OpenCursor()), clock,
            entropy ?? SystemEntropy.Instance, options, loops: SeededContext.Loops);
        var process = new Process(runtime, clock);
        _processes.Add(process);
        return process;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (Process process in _processes) await process.Runtime.DisposeAsync();
    }
}

internal sealed record Process(TangoRuntime Runtime, StoppableTime Clock)
{
    public ValueTask DieAsync() => Runtime.DisposeAsync();

    public ValueTask<T> OpenAsync<T>(string name = "object")
        where T : TangoObject, ITangoObject<T> =>
        Runtime.OpenAsync<T>(name, OpenMode.Create);
}

/// <summary>A clock whose timers do not fire while its process is stopped. Time goes on meanwhile.</summary>
internal sealed class StoppableTime(TimeProvider inner) : TimeProvider
{
    private readonly List<Action> _held = [];
    private bool _isStopped;

    public override long TimestampFrequency => inner.TimestampFrequency;

    public override long GetTimestamp() => inner.GetTimestamp();

    public override DateTimeOffset GetUtcNow() => inner.GetUtcNow();

    public void Stop() => _isStopped = true;

    public void GoOn()
    {
        _isStopped = false;
        foreach (Action held in _held) held();
        _held.Clear();
    }

    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        inner.CreateTimer(
            _ =>
            {
                if (_isStopped) _held.Add(() => callback(state));
                else callback(state);
            },
            null, dueTime, period);
}
