using System.Globalization;
using Corfu.WebConsole.Collecting;
using Corfu.WebConsole.Reading;
using Corfu.WebConsole.Views;
using Microsoft.AspNetCore.Http;
using Tango;

namespace Corfu.WebConsole.Serving;

/// <summary>Makes the pages: the address says which, its query what of it.</summary>
internal sealed class Pages : IAsyncDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(4);

    private readonly Collector _collector;
    private readonly LogAccess _access;
    private readonly EpochReader _epochs;
    private readonly ObjectReader _objects;
    private readonly LogWindow _window;

    public Pages(Collector collector)
    {
        _collector = collector;
        _access = new LogAccess(collector);
        _epochs = new EpochReader(_access);
        _objects = new ObjectReader(_access, collector.Time);
        _window = new LogWindow(_access, collector);
    }

    /// <param name="key">Among <see cref="NavItem.All"/>.</param>
    /// <param name="path">Path at which the console is mapped.</param>
    /// <returns>Null: there is no such page.</returns>
    public async Task<Page?> LoadAsync(
        string key, string path, IQueryCollection query, ClusterPicture picture, CancellationToken cancellationToken) =>
        key switch
        {
            "overview" => await LoadOverviewAsync(key, path, picture, cancellationToken),
            "timeline" => await LoadTimelineAsync(key, picture, cancellationToken),
            "processes" => new Page(
                key, "Processes", "Roles, disks, certificates and clocks, each in its process's own words.",
                typeof(ProcessesPage), new() { [nameof(ProcessesPage.Picture)] = picture }),
            "clients" => new Page(
                key, "Clients", "Who is connected to which process, and what they have asked for.",
                typeof(ClientsPage), new() { [nameof(ClientsPage.Picture)] = picture }),
            "transactions" => await LoadTransactionsAsync(key, path, query, cancellationToken),
            "objects" when query.TryGetValue("name", out var name) =>
                await LoadObjectAsync(key, path, name.ToString(), query["at"].ToString(), picture, cancellationToken),
            "objects" => await LoadObjectsAsync(key, path, picture, cancellationToken),
            _ => null,
        };

    public async ValueTask DisposeAsync()
    {
        await _window.DisposeAsync();
        await _access.DisposeAsync();
    }

    private async Task<Page> LoadOverviewAsync(
        string key, string path, ClusterPicture picture, CancellationToken cancellationToken)
    {
        var (stories, _) = await ReadEpochsAsync(picture, cancellationToken);
        return new Page(key, "Overview", "How the cluster is, as each process tells it.", typeof(Overview), new()
        {
            [nameof(Overview.Picture)] = picture,
            [nameof(Overview.Stories)] = stories,
            [nameof(Overview.Base)] = path,
        });
    }

    private async Task<Page> LoadTimelineAsync(
        string key, ClusterPicture picture, CancellationToken cancellationToken)
    {
        var (stories, trouble) = await ReadEpochsAsync(picture, cancellationToken);
        return new Page(
            key, "Timeline", "Every reconfiguration: why, by whom, and how long appends stood.", typeof(Timeline),
            new()
            {
                [nameof(Timeline.Picture)] = picture,
                [nameof(Timeline.Stories)] = stories,
                [nameof(Timeline.Trouble)] = trouble,
            });
    }

    // Epochs that were read before stay where the acceptors do not answer.
    private async Task<(ImmutableArray<EpochStory> Stories, string? Trouble)> ReadEpochsAsync(
        ClusterPicture picture, CancellationToken cancellationToken)
    {
        if (picture is { HasMajority: false }) return (_epochs.Known, "No majority of acceptors answers here.");
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(s_patience);
        try
        {
            return (await _epochs.ReadAsync(picture, limit.Token), null);
        }
        catch (CorfuException e)
        {
            return (_epochs.Known, e.Message);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return (_epochs.Known, "The acceptors did not tell the history in time.");
        }
    }

    private async Task<Page> LoadTransactionsAsync(
        string key, string path, IQueryCollection query, CancellationToken cancellationToken)
    {
        var window = await _window.LookAsync(cancellationToken);
        return new Page(
            key, "Transactions", "What became of each, and which write a lost one lost to.", typeof(TransactionsPage),
            new()
            {
                [nameof(TransactionsPage.All)] = TransactionJudge.Judge(window.Items),
                [nameof(TransactionsPage.Window)] = window,
                [nameof(TransactionsPage.Directory)] = await _objects.LookAsync(cancellationToken),
                [nameof(TransactionsPage.Base)] = path,
                [nameof(TransactionsPage.OnlyAborted)] = query["show"] == "lost",
            });
    }

    private async Task<Page> LoadObjectsAsync(
        string key, string path, ClusterPicture picture, CancellationToken cancellationToken) => new(
            key, "Objects", "The directory, and what the log is kept for.", typeof(ObjectsPage), new()
            {
                [nameof(ObjectsPage.Window)] = await _window.LookAsync(cancellationToken),
                [nameof(ObjectsPage.Directory)] = await _objects.LookAsync(cancellationToken),
                [nameof(ObjectsPage.Base)] = path,
                [nameof(ObjectsPage.Tail)] = picture.Tail?.Tail.Offset,
                [nameof(ObjectsPage.Streams)] = picture.Tail?.Streams,
            });

    private async Task<Page> LoadObjectAsync(
        string key, string path, string name, string atText, ClusterPicture picture,
        CancellationToken cancellationToken)
    {
        const string Lead = "An object, with its contents at any position that the log still has.";
        var directory = await _objects.LookAsync(cancellationToken);
        if (directory.Objects.FirstOrDefault(entry => entry.Name == name) is not { } entry)
            return new Page(key, name, Lead, typeof(Missing), new()
            {
                [nameof(Missing.Text)] = directory.Problem ?? "The directory has no object of this name.",
            });
        var window = await _window.LookAsync(cancellationToken);
        var changes = ObjectChange.Of(entry.Id.Value, window.Items, TransactionJudge.Judge(window.Items));
        // Without newer changes the page stays as it is while other objects change.
        var oldest = Math.Max(directory.TrimMark, entry.Created.Offset) + 1;
        var newest = Math.Max(
            oldest, changes.IsEmpty ? picture.Tail?.Tail.Offset ?? oldest : changes[^1].Place.Position + 1);
        var isPast = long.TryParse(atText, NumberStyles.None, CultureInfo.InvariantCulture, out var at);
        at = isPast ? Math.Clamp(at, oldest, newest) : newest;
        return new Page(key, name, Lead, typeof(ObjectPage), new()
        {
            [nameof(ObjectPage.Entry)] = entry,
            [nameof(ObjectPage.Directory)] = directory,
            [nameof(ObjectPage.Contents)] = await _objects.OpenAsync(name, at, cancellationToken),
            [nameof(ObjectPage.Changes)] = changes,
            [nameof(ObjectPage.Base)] = path,
            [nameof(ObjectPage.At)] = at,
            [nameof(ObjectPage.Oldest)] = oldest,
            [nameof(ObjectPage.Newest)] = newest,
            [nameof(ObjectPage.IsPast)] = isPast && at < newest,
        });
    }
}
