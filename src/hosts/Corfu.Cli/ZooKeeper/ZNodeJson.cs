using System.Globalization;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary>A node of a tree, as JSON.</summary>
/// <param name="At">The state is the one with all below this position applied.</param>
/// <param name="Kind">persistent, ephemeral, container or ttl.</param>
/// <param name="Data">Base64; absent where it is null.</param>
/// <param name="Czxid">This and the other zxids in hexadecimal, as ZooKeeper's tools print them.</param>
/// <param name="Owner">The session of an ephemeral node.</param>
/// <param name="Ttl">Milliseconds without a change and without children until the node ends.</param>
/// <param name="Children">How many there are.</param>
internal sealed record ZNodeJson(
    string Path, long At, string Kind, string? Data, IReadOnlyList<AclJson> Acl, string Czxid, string Mzxid,
    string Pzxid, DateTimeOffset Created, DateTimeOffset Changed, int Version, int Cversion, int Aversion,
    string? Owner, long? Ttl, int Children)
{
    private static readonly (Permissions Permission, char Letter)[] s_letters =
    [
        (Permissions.Create, 'c'), (Permissions.Delete, 'd'), (Permissions.Read, 'r'), (Permissions.Write, 'w'),
        (Permissions.Admin, 'a'),
    ];

    public static ZNodeJson Of(ZNode node, LogPosition at)
    {
        var stat = node.Stat;
        return new ZNodeJson(
            node.Path, at.Offset, KindOf(node), node.Data is { } data ? Convert.ToBase64String(data.Span) : null,
            [.. node.Acl.Entries.Select(static entry =>
                new AclJson(Text(entry.Permissions), entry.Scheme!, entry.Id!))],
            Hex(stat.Czxid), Hex(stat.Mzxid), Hex(stat.Pzxid), DateTimeOffset.FromUnixTimeMilliseconds(stat.Ctime),
            DateTimeOffset.FromUnixTimeMilliseconds(stat.Mtime), stat.Version, stat.Cversion, stat.Aversion,
            stat.EphemeralOwner == 0 ? null : Hex(stat.EphemeralOwner), node.Ttl, stat.ChildCount);
    }

    /// <summary>A line for people.</summary>
    public string ToLine()
    {
        var data = Data is null ? "null" : $"{Convert.FromBase64String(Data).Length} bytes";
        var owner = Owner is null ? "" : $" of {Owner}";
        var ttl = Ttl is { } ms ? $" {ms} ms" : "";
        var changed = Changed.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        var acl = string.Join(' ', Acl.Select(static entry => $"{entry.Scheme}:{entry.Id}:{entry.Permissions}"));
        return Printable.Of(
            $"{Path}  {Kind}{owner}{ttl}  {data}  version {Version}  mzxid {Mzxid}  {changed}  {acl}");
    }

    private static string KindOf(ZNode node) => node switch
    {
        { Ttl: not null } => "ttl",
        { IsReapable: true } => "container",
        { Stat.EphemeralOwner: not 0 } => "ephemeral",
        _ => "persistent",
    };

    private static string Hex(long number) => string.Create(CultureInfo.InvariantCulture, $"0x{number:x}");

    // ZooKeeper's letters, in its order.
    private static string Text(Permissions permissions) => string.Concat(
        s_letters.Where(pair => (permissions & pair.Permission) != 0).Select(static pair => pair.Letter));
}

/// <param name="Permissions">Some of <c>cdrwa</c>.</param>
internal sealed record AclJson(string Permissions, string Scheme, string Id);
