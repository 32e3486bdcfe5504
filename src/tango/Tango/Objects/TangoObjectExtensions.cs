namespace Tango;

/// <summary>Operations of every object.</summary>
public static class TangoObjectExtensions
{
    /// <summary>
    /// Reads now and after each change of the object that this process plays, until the answer is one that is waited
    /// for: <c>await orders.WaitForAsync(static (o, token) => o.CountAsync(token), static count => count > 0)</c>.
    /// While it waits, the log is asked for changes every <see cref="TangoOptions.WaitInterval"/>.
    /// </summary>
    /// <param name="read">Reads the object by its accessors.</param>
    /// <param name="until">True: the answer is returned.</param>
    /// <exception cref="TangoTransactionException">A transaction reads one state, which never changes.</exception>
    /// <exception cref="TangoReadOnlyException">The object is a past state or a second view.</exception>
    public static ValueTask<TResult> WaitForAsync<T, TResult>(
        this T tangoObject, Func<T, CancellationToken, ValueTask<TResult>> read, Func<TResult, bool> until,
        CancellationToken cancellationToken = default)
        where T : TangoObject =>
        tangoObject.Host.WaitForAsync(token => read(tangoObject, token), until, cancellationToken);
}
