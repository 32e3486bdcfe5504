namespace Corfu.Unit;

/// <summary>A running unit: folder, store, core and handler. Register <see cref="Handler"/> with the process's
/// transport server; watch <see cref="UnitHandler.Fault"/>.</summary>
public sealed class UnitNode : IAsyncDisposable
{
    private readonly UnitFolder _folder;

    private UnitNode(UnitFolder folder, UnitHandler handler)
    {
        _folder = folder;
        Handler = handler;
    }

    public UnitHandler Handler { get; }

    public NodeId Id => Handler.Id;

    /// <summary>Formats if need be, recovers, and is ready to serve on return.</summary>
    /// <exception cref="UnitFolderException">The folder is in use, not writable, another cluster's, or
    /// damaged.</exception>
    /// <exception cref="LogDamagedException">The log lacks something that was acknowledged: the unit must be
    /// rebuilt.</exception>
    public static async Task<UnitNode> OpenAsync(UnitNodeOptions options, IEntropy entropy)
    {
        using var activity = UnitTelemetry.Activities.StartActivity("corfu.unit.open");
        var began = TimeProvider.System.GetTimestamp();
        var folder = UnitFolder.Open(options.Folder, options.Id, options.Cluster, entropy, options.Store,
            options.MustExist);
        PageStore? store = null;
        try
        {
            store = folder.OpenStore();
            var core = await UnitCore.OpenAsync(store, new UnitCoreOptions
            {
                Id = folder.Identity.Unit,
                Cluster = folder.Identity.Cluster,
                MaxStreams = options.MaxStreams,
                MaxPayload = options.MaxPayload,
            });
            UnitTelemetry.RecoveryTime.Record(TimeProvider.System.GetElapsedTime(began).TotalSeconds);
            return new UnitNode(folder, new UnitHandler(folder.Identity.Unit, core, store, options.Handler));
        }
        catch (Exception error)
        {
            if (store is not null) await store.DisposeAsync();
            folder.Dispose();
            if (error is UnauthorizedAccessException or IOException)
                throw new UnitFolderException(
                    $"The unit's data folder {options.Folder} cannot be used: {error.Message}", error);
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await Handler.DisposeAsync();
        _folder.Dispose();
    }
}
