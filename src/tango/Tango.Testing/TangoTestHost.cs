using Corfu;

namespace Tango.Testing;

/// <summary>
/// A log in memory, the processes that share it, and the clock that all of them have. A test starts a process for each
/// party, moves the time, and disturbs what it wants to see disturbed.
/// </summary>
/// <example>
/// <code>
/// await using var host = new TangoTestHost();
/// var shop = await ShopContext.OpenAsync(host.Start().Runtime);
/// </code>
/// </example>
public sealed class TangoTestHost : IAsyncDisposable
{
    private readonly List<TestProcess> _processes = [];

    public TangoTestHost(InMemoryLogOptions? options = null) =>
        Log = new InMemoryCorfuLog((options ?? new InMemoryLogOptions()) with { Time = Time });

    /// <summary>Moves only when the test moves it: leases end, waits look again and idle playback plays then.</summary>
    public TestTime Time { get; } = new();

    public InMemoryCorfuLog Log { get; }

    /// <summary>Starts a process with a runtime and a connection of its own. It ends with the host, or when it is
    /// disposed: its objects' state is in the log, its leases end in silence.</summary>
    public TestProcess Start(TangoOptions? options = null)
    {
        var process = new TestProcess(Log, Time, options ?? new TangoOptions());
        lock (_processes) _processes.Add(process);
        return process;
    }

    /// <summary>The position after the newest entry.</summary>
    public async ValueTask<LogPosition> TailAsync() => (await Log.CheckAsync([])).Tail;

    /// <summary>Trims the log below a position as a log does that keeps less than it should: nothing is asked. A
    /// process that has not played so far, and has no checkpoint to start from, fails typed.</summary>
    public ValueTask TrimBelowAsync(LogPosition position) => Log.TrimPrefixAsync(position);

    public async ValueTask DisposeAsync()
    {
        TestProcess[] processes;
        lock (_processes) processes = [.. _processes];
        foreach (var process in processes) await process.DisposeAsync();
    }
}

/// <summary>A process of a <see cref="TangoTestHost"/>.</summary>
public sealed class TestProcess : IAsyncDisposable
{
    internal TestProcess(InMemoryCorfuLog log, TimeProvider time, TangoOptions options)
    {
        Connection = new TestConnection(log);
        // Outcomes that the test leaves in doubt stay so until the test asks.
        Runtime = new TangoRuntime(Connection, () => new StreamCursor(Connection), time, SystemEntropy.Instance,
            options with { MaxResolveAttempts = 0 });
    }

    public TangoRuntime Runtime { get; }

    /// <summary>The connection that <see cref="Runtime"/> uses.</summary>
    public TestConnection Connection { get; }

    public ValueTask DisposeAsync() => Runtime.DisposeAsync();
}
