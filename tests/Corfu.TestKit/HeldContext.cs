namespace Corfu.TestKit;

/// <summary>A message loop that runs nothing: it has ended, or its thread blocks until <see cref="GoOn"/>.</summary>
public sealed class HeldContext : SynchronizationContext
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Null: the loop goes on.
    private Queue<(SendOrPostCallback Callback, object? State)>? _held = new();

    public override void Post(SendOrPostCallback d, object? state)
    {
        lock (_gate)
        {
            if (_held is not null)
            {
                _held.Enqueue((d, state));
                return;
            }
        }

        base.Post(d, state);
    }

    /// <summary>A call of a handler on the loop's thread, up to the first wait.</summary>
    public T Call<T>(Func<T> call)
    {
        var before = Current;
        SetSynchronizationContext(this);
        try
        {
            return call();
        }
        finally
        {
            SetSynchronizationContext(before);
        }
    }

    public void GoOn()
    {
        Queue<(SendOrPostCallback Callback, object? State)> held;
        lock (_gate) (held, _held) = (_held!, null);
        foreach (var (callback, state) in held) base.Post(callback, state);
    }
}
