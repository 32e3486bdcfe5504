using Tango.Runtime;

namespace Tango;

public sealed partial class TangoTransaction
{
    /// <summary>
    /// Whether the transaction's snapshot has no write of the key, alone or with the whole object, after a version that
    /// an earlier reader was told. The key is read: the transaction commits only while the answer stays true.
    /// </summary>
    /// <param name="handle">Handle of an object that is open in the transaction's runtime.</param>
    /// <param name="key">Key of exactly the type that the object's [VersionKey] has. A key of several parameters is not
    /// their tuple: the other overload takes it.</param>
    /// <param name="since">
    /// Version of a commit: it is the newest write that may be there. Of a reader: <see cref="SnapshotEnd"/> less one,
    /// with the highest index.
    /// </param>
    /// <returns>False also where the object does not remember so old a version.</returns>
    /// <exception cref="TangoReadOnlyException">The handle is of a past state or a second view.</exception>
    public ValueTask<bool> IsUnchangedAsync<TKey>(
        TangoObject handle, TKey key, RecordVersion since, CancellationToken cancellationToken = default)
        where TKey : notnull =>
        IsUnchangedAsync(handle, ObjectKey.Of(key), since, cancellationToken);

    /// <inheritdoc cref="IsUnchangedAsync{TKey}"/>
    /// <param name="key">Key of one or several [VersionKey] parameters.</param>
    /// <exception cref="ArgumentException">The key is a list.</exception>
    public async ValueTask<bool> IsUnchangedAsync(
        TangoObject handle, ObjectKey key, RecordVersion since, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(handle);
        if (key.IsList) throw new ArgumentException("Versions are of one key", nameof(key));
        if (_outer is not null) return await _outer.IsUnchangedAsync(handle, key, since, cancellationToken);
        var host = handle.Host as ObjectHost ?? throw new TangoReadOnlyException(handle.ObjectName);
        await QueryAsync<TangoObject, byte, byte>(host, key, 0, static (_, state) => state, cancellationToken);
        // The versions may be ahead of the snapshot. What is newer there than the snapshot aborts the transaction.
        lock (_gate) return !Touch(host).Hosted!.Versions.MayBeNewer(key.Bytes, since);
    }
}
