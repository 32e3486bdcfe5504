using Corfu.WebConsole.Collecting;
using Tango;

namespace Corfu.WebConsole.Reading;

/// <summary>The log and its objects as pages read them: opened when the first page needs them.</summary>
internal sealed class LogAccess(Collector collector) : IAsyncDisposable
{
    private readonly ReadBudget _budget = new(collector.Time);
    private readonly Lock _gate = new();

    // Guarded by _gate.
    private CorfuClient? _client;
    private TangoRuntime? _runtime;
    private bool _isDisposed;

    /// <summary>For the positions and the history of the layout.</summary>
    /// <exception cref="LogUnknownException">No process has told a projection yet.</exception>
    public CorfuClient Client
    {
        get
        {
            lock (_gate) return Open();
        }
    }

    /// <summary>Knows the types of Tango.Collections alone, writes no checkpoints and changes nothing.</summary>
    /// <exception cref="LogUnknownException">No process has told a projection yet.</exception>
    public TangoRuntime Runtime
    {
        get
        {
            lock (_gate)
                return _runtime ??= new TangoRuntime(
                    new ReadOnlyLog(Open(), _budget), new TangoOptions { Checkpoints = null, IdlePlayback = null });
        }
    }

    /// <summary>The log for readers of entries, within the budget of all pages.</summary>
    /// <exception cref="LogUnknownException">No process has told a projection yet.</exception>
    public ICorfuLog Log => new ReadOnlyLog(Client, _budget);

    public async ValueTask DisposeAsync()
    {
        (CorfuClient? Client, TangoRuntime? Runtime) open;
        lock (_gate)
        {
            _isDisposed = true;
            open = (_client, _runtime);
        }

        if (open.Runtime is not null) await open.Runtime.DisposeAsync();
        if (open.Client is not null) await open.Client.DisposeAsync();
    }

    private CorfuClient Open()
    {
        ObjectDisposedException.ThrowIf(_isDisposed, this);
        return _client ??= collector.NewClient() ?? throw new LogUnknownException();
    }
}

/// <summary>There is nothing to read yet.</summary>
internal sealed class LogUnknownException()
    : CorfuException("No process has told the layout yet, so the log cannot be read.");
