using Corfu.WebConsole.Collecting;
using Corfu.WebConsole.Views;
using Microsoft.AspNetCore.Http;

namespace Corfu.WebConsole.Serving;

/// <summary>Makes the pages: the address says which, its query what of it.</summary>
internal sealed class Pages(string path)
{
    /// <param name="key">Among <see cref="NavItem.All"/>.</param>
    /// <returns>Null: there is no such page.</returns>
    public async Task<Page?> LoadAsync(
        string key, IQueryCollection query, ClusterPicture picture, CancellationToken cancellationToken)
    {
        await Task.CompletedTask;
        return key switch
        {
            "overview" => new Page(
                key, "Overview", "How the cluster is, as each process tells it.", typeof(Overview), new()
                {
                    [nameof(Overview.Picture)] = picture,
                    [nameof(Overview.Base)] = path,
                }),
            _ => null,
        };
    }
}
