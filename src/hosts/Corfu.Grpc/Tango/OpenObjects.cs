using Corfu.Extensions;
using Tango;

namespace Corfu.Grpc;

/// <summary>The objects that calls name. Each use looks the name up in the directory as it is then: a rename shows at
/// once. The runtime hosts an object while it is used, and for a while longer.</summary>
internal sealed class OpenObjects(ITangoHost host)
{
    // The directory's limit.
    internal const int MaxNameLength = 512;

    private static readonly TransactionOptions s_reading = new() { StaleSnapshot = true };

    public Task<TangoRuntime> RuntimeAsync(CancellationToken cancellationToken) =>
        host.GetRuntimeAsync(cancellationToken);

    /// <summary>The object that has the name now. Everything that was acknowledged before the call is played.</summary>
    /// <exception cref="TangoObjectNotFoundException">There is none.</exception>
    /// <exception cref="TangoDirectoryException">The object is of another type.</exception>
    public Task<T> GetAsync<T>(string name, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T> =>
        OpenAsync<T>(name, OpenMode.Existing, cancellationToken);

    public Task<T> CreateAsync<T>(string name, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T> =>
        OpenAsync<T>(name, OpenMode.Create, cancellationToken);

    /// <summary>Uses an object. An object that is deleted between the look-up and the use is looked up anew, once: the
    /// name may be of another object by then.</summary>
    public async Task<TResult> UseAsync<T, TResult>(
        string name, Func<T, Task<TResult>> use, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        try
        {
            return await use(await GetAsync<T>(name, cancellationToken));
        }
        catch (TangoObjectDeletedException)
        {
            return await use(await GetAsync<T>(name, cancellationToken));
        }
    }

    /// <summary>Reads at one position that includes everything acknowledged before, and returns that position. The read
    /// never conflicts: the look-up has played so far already.</summary>
    public async Task<(TResult Value, LogPosition End)> ReadAsync<T, TResult>(
        string name, Func<T, ValueTask<TResult>> read, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        var runtime = await RuntimeAsync(cancellationToken);
        return await UseAsync<T, (TResult, LogPosition)>(name, ReadOnceAsync, cancellationToken);

        async Task<(TResult, LogPosition)> ReadOnceAsync(T found)
        {
            await using var transaction = runtime.BeginTx(s_reading);
            var value = await read(found);
            var end = transaction.SnapshotEnd!.Value;
            (await transaction.EndTxAsync(cancellationToken)).ThrowIfNotCommitted();
            return (value, end);
        }
    }

    public static void RequireName(string name)
    {
        if (name.Length is 0 or > MaxNameLength)
            throw new RequestException($"object: a name has between 1 and {MaxNameLength} characters.");
    }

    private async Task<T> OpenAsync<T>(string name, OpenMode mode, CancellationToken cancellationToken)
        where T : TangoObject, ITangoObject<T>
    {
        RequireName(name);
        var runtime = await RuntimeAsync(cancellationToken);
        return await runtime.OpenRemoteAsync<T>(name, mode, cancellationToken);
    }
}
