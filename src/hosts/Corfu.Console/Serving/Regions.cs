namespace Corfu.WebConsole.Serving;

/// <summary>The live regions of a rendered page, and which of them differ from what a viewer has. Texts of the cluster
/// are encoded, so that no tag of theirs is mistaken for a region's.</summary>
internal sealed class Regions
{
    private const string Opening = "<live-region id=\"";
    private const string Closing = "</live-region>";

    private readonly Dictionary<string, string> _sent = [];

    /// <summary>The regions that have changed, by their ids.</summary>
    public Dictionary<string, string> TakeChanged(string html)
    {
        var changed = new Dictionary<string, string>();
        var at = 0;
        while ((at = html.IndexOf(Opening, at, StringComparison.Ordinal)) >= 0)
        {
            var id = at + Opening.Length;
            var idEnd = html.IndexOf('"', id);
            var content = html.IndexOf('>', idEnd) + 1;
            var end = html.IndexOf(Closing, content, StringComparison.Ordinal);
            var (name, text) = (html[id..idEnd], html[content..end]);
            if (_sent.GetValueOrDefault(name) != text) changed[name] = _sent[name] = text;
            at = end;
        }

        return changed;
    }
}
