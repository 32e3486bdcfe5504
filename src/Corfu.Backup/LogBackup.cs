using Corfu.Client;
using Corfu.Protocol;

namespace Corfu.Backup;

/// <summary>
/// Copies a running log into a folder: everything below its tail, as a linearizable check answers it, every position
/// decided. A further run goes on where the last one ended.
/// </summary>
public sealed class LogBackup
{
    private readonly CorfuClient _client;
    private readonly IBackupFolder _folder;
    private readonly TimeProvider _time;
    private readonly BackupOptions _options;

    public LogBackup(CorfuClient client, IBackupFolder folder, TimeProvider time, BackupOptions? options = null)
    {
        _client = client;
        _folder = folder;
        _time = time;
        _options = options ?? BackupOptions.Default;
        _options.Validate();
    }

    /// <summary>Interrupted or failed, it leaves a whole backup of what it has, which the next run continues.</summary>
    /// <exception cref="BackupException">The folder holds another log's backup, or more than the log.</exception>
    public async Task<BackupManifest> RunAsync(Action<CopyProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        var manifest = await LoadAsync(cancellationToken);
        RemoveLeftovers(manifest);
        var tail = (await _client.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        if (tail.Offset < manifest.End)
            throw new BackupException(
                $"The log ends at {tail.Offset} and its backup at {manifest.End}: the log has lost entries. The "
                + "backup is left as it is.");
        manifest = await RaiseAsync(manifest, tail, cancellationToken);
        manifest = await CopyAsync(manifest, tail, progress, cancellationToken);

        // What was trimmed while it was copied has left nothing in the files that tells its streams.
        var raised = await RaiseAsync(manifest, tail, cancellationToken);
        if (raised != manifest) manifest = Save(raised);
        RemoveLeftovers(manifest);
        return manifest;
    }

    private async Task<BackupManifest> CopyAsync(BackupManifest manifest, LogPosition tail,
        Action<CopyProgress>? progress, CancellationToken cancellationToken)
    {
        var first = manifest.End;
        long bytes = 0;
        BackupFileWriting? file = null;
        try
        {
            await foreach (var batch in new LogPrefixReader(_client, _options).ReadAsync(new LogPosition(first), tail,
                cancellationToken))
            {
                file ??= BackupFileWriting.OfLog(_folder, _client.Projection.Cluster, batch.From);
                foreach (var page in batch.Pages) file.Add(page);
                bytes += batch.Bytes;
                progress?.Invoke(new CopyProgress(batch.To, tail, batch.To.Offset - first, bytes));
                if (file.Bytes < _options.FileSize) continue;
                var full = file;
                file = null;
                manifest = Keep(manifest, full);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or CorfuException)
        {
            // What has been read is worth keeping: the next run begins behind it.
            if (file is not null) Keep(manifest, file);
            throw;
        }
        catch (Exception)
        {
            // Most likely the disk: what is in the manifest counts, the rest is a leftover.
            file?.Dispose();
            throw;
        }

        return file is null ? Save(manifest) : Keep(manifest, file);
    }

    private BackupManifest Keep(BackupManifest manifest, BackupFileWriting file)
    {
        using (file)
        {
            return file.Finish() is { } done
                ? Save(manifest with { Files = manifest.Files.Add(done), End = done.Until })
                : manifest;
        }
    }

    private async Task<BackupManifest> RaiseAsync(BackupManifest manifest, LogPosition tail,
        CancellationToken cancellationToken)
    {
        var mark = LogPosition.Min((await _client.FindExtentAsync(cancellationToken)).TrimMark, tail);
        return await WithStreamsAsync(Raise(manifest, mark.Offset), cancellationToken);
    }

    // The mark has moved: files below it are let go, once a manifest without them is durable.
    private static BackupManifest Raise(BackupManifest manifest, long mark) => mark <= manifest.TrimMark
        ? manifest
        : manifest with
        {
            TrimMark = mark,
            End = Math.Max(mark, manifest.End),
            Files = manifest.Files.RemoveAll(f => f.Until <= mark)
        };

    // What is below the mark is in no file any more, but a stream whose entries were all there is not one that never
    // had any (R22).
    private async Task<BackupManifest> WithStreamsAsync(BackupManifest manifest, CancellationToken cancellationToken)
    {
        if (manifest.TrimMark == 0 || manifest.Streams?.Until == manifest.TrimMark) return manifest;
        var mark = new LogPosition(manifest.TrimMark);
        var tails = await _client.ListTrimmedStreamsAsync(mark, cancellationToken);
        using var file = BackupFileWriting.OfStreams(_folder, _client.Projection.Cluster, mark);
        foreach (var some in tails.Chunk(MessageLimits.MaxItems)) file.Add([.. some]);
        return manifest with { Streams = file.Finish() };
    }

    private BackupManifest Save(BackupManifest manifest)
    {
        manifest = manifest with { Format = BackupManifest.Version, Written = _time.GetUtcNow() };
        _folder.Replace(BackupManifest.FileName, manifest.Encode());
        return manifest;
    }

    private async ValueTask<BackupManifest> LoadAsync(CancellationToken cancellationToken)
    {
        var cluster = _client.Projection.Cluster;
        if (!_folder.List().Contains(BackupManifest.FileName)) return BackupManifest.Empty(cluster);
        var reader = await BackupReader.OpenAsync(_folder, cancellationToken);
        if (reader.Cluster != cluster)
            throw new BackupException(
                $"The folder {_folder.Name} holds a backup of cluster {reader.Cluster}, and this is {cluster}.");
        foreach (var file in reader.Manifest.AllFiles)
        {
            if (!_folder.List().Contains(file.Name)) throw new BackupDamagedException(file.Name, "it is missing");
        }

        return reader.Manifest;
    }

    private void RemoveLeftovers(BackupManifest manifest)
    {
        var named = manifest.AllFiles.Select(f => f.Name).ToHashSet(StringComparer.Ordinal);
        foreach (var name in _folder.List())
        {
            if (BackupFile.IsAnyName(name) && !named.Contains(name)) _folder.Delete(name);
        }
    }
}
