namespace Corfu.Hosting;

/// <summary>Asks a node on this machine to take its configuration anew, and waits for its answer.</summary>
public static class NodeReload
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    /// <exception cref="NodeStartException">The node does not run, or does not answer.</exception>
    public static async Task<ReloadOutcome> RunAsync(string folder, TimeProvider time,
        CancellationToken cancellationToken = default)
    {
        var full = Path.GetFullPath(folder);
        var file = Path.Combine(full, ReloadOutcome.FileName);
        if (FolderLock.OwnerOf(full) is not { Use: FolderUse.Node, ProcessId: > 0 } owner)
            throw new NodeStartException(
                $"No node runs in {full}: start it with 'corfu node --config {Path.Combine(full, "node.json")}'.");
        File.Delete(file);
        NodeProcess.Reload(owner.ProcessId);
        var began = time.GetTimestamp();
        while (time.GetElapsedTime(began) < Patience)
        {
            // The node replaces the file whole.
            if (File.Exists(file)) return JsonFile.Read(file, HostingJson.Default.ReloadOutcome);
            await Task.Delay(Pause, time, cancellationToken);
        }

        throw new NodeStartException(
            $"The node in {full} (process {owner.ProcessId}) gave no answer in {Patience.TotalSeconds:0} s: look at "
            + "its log.");
    }
}
