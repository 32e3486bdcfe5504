using System.Globalization;
using System.Text;

namespace Corfu.Unit;

/// <summary>The identity of a unit: a text file of <c>key=value</c> lines. A folder is formatted once; a unit that has
/// left a cluster gets a new folder and a new identity.</summary>
public sealed record UnitIdentity(NodeId Unit, ClusterId Cluster, PageStoreOptions Store)
{
    private const string FormatKey = "format";
    private const string FormatValue = "corfu-unit-1";

    internal string ToText()
    {
        var text = new StringBuilder();
        Line(FormatKey, FormatValue);
        Line("unit", Unit.ToString());
        Line("cluster", Cluster.ToString());
        // The geometry of the log is part of its format: changing it later would misread what is there.
        Line("log-page-size", Number(Store.LogPageSize));
        Line("segment-size", Number(Store.SegmentSize));
        return text.ToString();

        void Line(string key, string value) => text.Append(key).Append('=').Append(value).Append('\n');
        static string Number(int value) => value.ToString(CultureInfo.InvariantCulture);
    }

    internal static UnitIdentity Parse(string text, string path, PageStoreOptions store)
    {
        var values = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (var line in text.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))
        {
            var equals = line.IndexOf('=');
            if (equals > 0) values[line[..equals]] = line[(equals + 1)..];
        }

        var format = values.GetValueOrDefault(FormatKey);
        if (format != FormatValue)
            throw new UnitFolderException($"{path} is no unit identity that this version knows (format '{format}').");
        var sized = store with { LogPageSize = Size("log-page-size"), SegmentSize = Size("segment-size") };
        return new UnitIdentity(new NodeId(Id("unit")), new ClusterId(Id("cluster")), sized);

        Guid Id(string key) => Guid.TryParse(values.GetValueOrDefault(key), out var id) ? id : throw Damaged(key);
        int Size(string key) => int.TryParse(values.GetValueOrDefault(key), CultureInfo.InvariantCulture, out var n)
            ? n
            : throw Damaged(key);
        UnitFolderException Damaged(string key) => new($"{path} is damaged: '{key}' is missing or not readable.");
    }
}
