namespace Tango;

/// <summary>The life of one runtime. All work that a runtime has started ends with it.</summary>
internal sealed class RuntimeLifetime
{
    private readonly CancellationTokenSource _end = new();

    public CancellationToken Token => _end.Token;

    public bool HasEnded => _end.IsCancellationRequested;

    /// <summary>Told to calls that meet the end.</summary>
    public static ObjectDisposedException Ended() => new("TangoRuntime");

    public static void ThrowIfEnded(CancellationToken lifetime)
    {
        if (lifetime.IsCancellationRequested) throw Ended();
    }

    public void End() => _end.Cancel();

    /// <summary>Runs work that ends with its caller's token or with the runtime.</summary>
    /// <exception cref="ObjectDisposedException">The runtime has ended.</exception>
    public async ValueTask<T> RunAsync<T>(
        Func<CancellationToken, ValueTask<T>> work, CancellationToken cancellationToken)
    {
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, Token);
        try
        {
            return await work(stop.Token);
        }
        catch (OperationCanceledException) when (HasEnded)
        {
            throw Ended();
        }
    }
}
