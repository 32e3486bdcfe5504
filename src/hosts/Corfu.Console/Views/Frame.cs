using Corfu.WebConsole.Collecting;

namespace Corfu.WebConsole.Views;

/// <summary>The frame of every page, around its own part.</summary>
/// <param name="Base">Path at which the console is mapped, without a slash at its end.</param>
/// <param name="Key">The page among <see cref="NavItem.All"/>.</param>
/// <param name="Events">Address of the page's event stream.</param>
public sealed record Frame(
    string Base, string Key, string Title, string Lead, string Events, ClusterPicture Picture,
    DateTimeOffset Now);

/// <summary>A page that the navigation leads to.</summary>
/// <param name="Icon">Data of an SVG path in a box of 16 units.</param>
public sealed record NavItem(string Key, string Path, string Label, string Icon)
{
    public static ImmutableArray<NavItem> All { get; } =
    [
        new("overview", "/", "Overview", "M2 2h5v7H2zM9 2h5v4H9zM9 8h5v6H9zM2 11h5v3H2z"),
        new("timeline", "/timeline", "Timeline", "M4 2v12M4 4h6M4 8h9M4 12h4"),
        new("processes", "/processes", "Processes", "M2 2.5h12v4H2zM2 9.5h12v4H2zM4.5 4.5h.01M4.5 11.5h.01"),
        new("objects", "/objects", "Objects", "M8 1.5l6 3.2v6.6l-6 3.2-6-3.2V4.7zM2 4.7l6 3.3 6-3.3M8 8v6.5"),
        new("transactions", "/transactions", "Transactions", "M2 5h11l-3-3M14 11H3l3 3"),
        new("clients", "/clients", "Clients", "M8 8a3 3 0 100-6 3 3 0 000 6zM3 14c.5-2.6 2.5-4 5-4s4.500 1.400 5 4"),
    ];
}
