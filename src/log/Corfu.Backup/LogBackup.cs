namespace Corfu.Backup;

/// <summary>Copies a running log into a folder: everything below its tail, as a linearizable check answers it, every
/// position decided. A further run goes on where the last one ended.</summary>
public sealed class LogBackup(CorfuClient client, IBackupFolder folder, TimeProvider time,
    BackupOptions? options = null)
{
    private readonly BackupOptions _options = BackupOptions.Checked(options);

    /// <summary>Interrupted or failed, it leaves a whole backup of what it has, which the next run continues.</summary>
    /// <exception cref="BackupException">The folder holds another log's backup, or more than the log.</exception>
    public async Task<BackupManifest> RunAsync(Action<CopyProgress>? progress = null,
        CancellationToken cancellationToken = default)
    {
        var manifest = await LoadAsync(cancellationToken);
        RemoveLeftovers(manifest);
        var tail = (await client.CheckAsync([], cancellationToken: cancellationToken)).Tail;
        if (tail.Offset < manifest.End)
            throw new BackupException(
                $"The log ends at {tail.Offset} and its backup at {manifest.End}: the log has lost entries. The "
                + "backup is left as it is.");
        manifest = await RaiseAsync(manifest, tail, cancellationToken);
        manifest = await CopyAsync(manifest, tail, progress, cancellationToken);

        // The files do not tell the streams of what was trimmed while it was copied.
        var raised = await RaiseAsync(manifest, tail, cancellationToken);
        if (raised != manifest) manifest = Save(raised);
        RemoveLeftovers(manifest);
        return manifest;
    }

    private async Task<BackupManifest> CopyAsync(BackupManifest manifest, LogPosition tail,
        Action<CopyProgress>? progress, CancellationToken cancellationToken)
    {
        var done = new CopyProgress(new LogPosition(manifest.End), tail, 0, 0);
        BackupFileWriting? file = null;
        try
        {
            var reader = new LogPrefixReader(client, _options);
            await foreach (var batch in reader.ReadAsync(done.Copied, tail, cancellationToken))
            {
                file ??= BackupFileWriting.OfLog(folder, client.Projection.Cluster, batch.From);
                foreach (var page in batch.Pages) file.Add(page);
                progress?.Invoke(done = done.Add(batch));
                if (file.Bytes < _options.FileSize) continue;
                var full = file;
                file = null;
                manifest = Keep(manifest, full);
            }
        }
        catch (Exception e) when (e is OperationCanceledException or CorfuException)
        {
            // The next run begins behind what has been read.
            if (file is not null) Keep(manifest, file);
            throw;
        }
        catch (Exception)
        {
            // Most likely the disk: the manifest counts, all else is a leftover.
            file?.Dispose();
            throw;
        }

        return file is null ? Save(manifest) : Keep(manifest, file);
    }

    private BackupManifest Keep(BackupManifest manifest, BackupFileWriting file)
    {
        using var closing = file;
        return file.Finish() is { } done
            ? Save(manifest with { Files = manifest.Files.Add(done), End = done.Until })
            : manifest;
    }

    private async Task<BackupManifest> RaiseAsync(BackupManifest manifest, LogPosition tail,
        CancellationToken cancellationToken)
    {
        var mark = LogPosition.Min((await client.Cluster.FindExtentAsync(cancellationToken)).TrimMark, tail);
        return await WithStreamsAsync(Raise(manifest, mark.Offset), cancellationToken);
    }

    // Files below the mark are deleted once a manifest without them is durable.
    private static BackupManifest Raise(BackupManifest manifest, long mark) => mark <= manifest.TrimMark
        ? manifest
        : manifest with
        {
            TrimMark = mark,
            End = Math.Max(mark, manifest.End),
            Files = manifest.Files.RemoveAll(f => f.Until <= mark)
        };

    // R22: a stream that lies wholly below the mark is in no file of entries, and must not look as if it never had any.
    private async Task<BackupManifest> WithStreamsAsync(BackupManifest manifest, CancellationToken cancellationToken)
    {
        if (manifest.TrimMark == 0 || manifest.Streams?.Until == manifest.TrimMark) return manifest;
        var mark = new LogPosition(manifest.TrimMark);
        var tails = await client.Cluster.ListTrimmedStreamsAsync(mark, cancellationToken);
        using var file = BackupFileWriting.OfStreams(folder, client.Projection.Cluster, mark);
        foreach (var some in tails.Chunk(MessageLimits.MaxItems)) file.Add([.. some]);
        return manifest with { Streams = file.Finish() };
    }

    private BackupManifest Save(BackupManifest manifest)
    {
        manifest = manifest with { Format = BackupManifest.Version, Written = time.GetUtcNow() };
        folder.Replace(BackupManifest.FileName, manifest.Encode());
        return manifest;
    }

    private async ValueTask<BackupManifest> LoadAsync(CancellationToken cancellationToken)
    {
        var cluster = client.Projection.Cluster;
        if (!folder.List().Contains(BackupManifest.FileName)) return BackupManifest.Empty(cluster);
        var reader = await BackupReader.OpenAsync(folder, cancellationToken);
        if (reader.Cluster != cluster)
            throw new BackupException(
                $"The folder {folder.Name} holds a backup of cluster {reader.Cluster}, and this is {cluster}.");
        foreach (var file in reader.Manifest.AllFiles)
        {
            if (!folder.List().Contains(file.Name)) throw new BackupDamagedException(file.Name, "it is missing");
        }

        return reader.Manifest;
    }

    private void RemoveLeftovers(BackupManifest manifest)
    {
        var named = manifest.AllFiles.Select(f => f.Name).ToHashSet(StringComparer.Ordinal);
        foreach (var name in folder.List())
        {
            if (BackupFile.IsAnyName(name) && !named.Contains(name)) folder.Delete(name);
        }
    }
}
