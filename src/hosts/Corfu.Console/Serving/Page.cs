namespace Corfu.WebConsole.Serving;

/// <summary>A page that is ready to be rendered.</summary>
/// <param name="Key">Among <see cref="Views.NavItem.All"/>.</param>
/// <param name="View">A Razor component.</param>
internal sealed record Page(
    string Key, string Title, string Lead, Type View, Dictionary<string, object?> Parameters);
