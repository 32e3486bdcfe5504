using System.Collections.Immutable;
using Corfu.FaultRuns.Machine;
using Corfu.Protocol;

namespace Corfu.FaultRuns.Permissions;

/// <summary>The table of docs/permissions.md, which operators rely on.</summary>
internal sealed class PermissionPage
{
    private readonly Dictionary<(Opcode Opcode, AccessRole Role), string> _cells = [];
    private readonly Dictionary<string, ImmutableArray<string>> _methods = [];

    private PermissionPage()
    {
    }

    public IEnumerable<Opcode> Opcodes => _cells.Keys.Select(cell => cell.Opcode).Distinct();

    public static PermissionPage Read()
    {
        var page = new PermissionPage();
        foreach (var line in File.ReadLines(Path.Combine(Root(), "docs", "permissions.md")))
        {
            // | number | `Opcode` | client | admin | node |
            string[] cells = [.. line.Split('|').Select(cell => cell.Trim())];
            if (cells is ["", ['`', .. var method, '`'], _, _, _, _, _, ""]) page._methods[method] = [.. cells[2..7]];
            if (cells.Length != 7 || !byte.TryParse(cells[1], out var number)) continue;
            page._cells[((Opcode)number, AccessRole.Client)] = cells[3];
            page._cells[((Opcode)number, AccessRole.Admin)] = cells[4];
            page._cells[((Opcode)number, AccessRole.Node)] = cells[5];
        }

        return page._cells.Count > 0 ? page : throw new RunException("docs/permissions.md has no table.");
    }

    /// <summary>yes, no, or a condition. Callers and peers without a certificate of the cluster have nothing.</summary>
    public string Of(Opcode opcode, AccessRole role) => _cells.GetValueOrDefault((opcode, role), "no");

    /// <summary>As <see cref="Of(Opcode,AccessRole)"/>, for a method of the front end.</summary>
    /// <param name="role">None: without a certificate.</param>
    public string Of(string method, AccessRole role) =>
        _methods.TryGetValue(method, out var cells) ? cells[(int)role] : "no row";

    private static string Root()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder is not null; folder = folder.Parent)
        {
            if (File.Exists(Path.Combine(folder.FullName, "Corfu.slnx"))) return folder.FullName;
        }

        throw new RunException("the run is not inside the repository: docs/permissions.md is not found.");
    }
}
