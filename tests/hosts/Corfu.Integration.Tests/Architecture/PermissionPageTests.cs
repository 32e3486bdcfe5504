using System.Globalization;
using System.Text;
using Corfu.Grpc;
using Corfu.Protocol;
using Craq.Protocol;
using Salus.Protocol;

namespace Corfu.Integration.Tests.Architecture;

/// <summary>docs/permissions.md is generated from the tables of opcodes and methods. CORFU_RECORD=1 writes
/// it.</summary>
public sealed class PermissionPageTests
{
    private static readonly string s_path = Path.Combine(Repository.Root, "docs", "permissions.md");

    private static readonly RequestTable s_craq = new(CraqMessages.AddTo);
    private static readonly RequestTable s_salus = new(SalusMessages.AddTo);
    private static readonly AccessRole[] s_roles = [AccessRole.Client, AccessRole.Admin, AccessRole.Node];

    [Fact]
    public void Page_says_the_same_as_the_table()
    {
        var page = Page();
        if (Environment.GetEnvironmentVariable("CORFU_RECORD") == "1") File.WriteAllText(s_path, page);
        Assert.Equal(page, File.ReadAllText(s_path));
    }

    private static string Page()
    {
        var page = new StringBuilder();
        page.Append("""
            # Permissions

            Which certificate may send what to the cluster's port and to a gRPC front end. Generated from `AccessTable`
            and `MethodAccess`: `PermissionPageTests` compares, and
            `dotnet run -c Release --project tests/Corfu.FaultRuns -- permissions` tries every cell.
            What a role is trusted with, and why, is in [security.md](security.md).

            A connection without TLS counts as a node. A peer without a certificate of the cluster, and one with the
            role `caller`, reach no opcode at all: the handshake ends with the reason. Any other refusal is the status
            `Denied`: nothing was done, and the connection stays. A connection may give up rights in its handshake.

            | number | opcode | client | admin | node |
            |---|---|---|---|---|

            """.ReplaceLineEndings("\n"));
        foreach (var row in AccessTable.Rows)
        {
            page.Append(CultureInfo.InvariantCulture,
                $"| {(int)row.Opcode} | `{row.Opcode}` | {Cell(row, AccessRole.Client)} ");
            page.Append(CultureInfo.InvariantCulture,
                $"| {Cell(row, AccessRole.Admin)} | {Cell(row, AccessRole.Node)} |\n");
        }

        AddOthers(page);
        return page.ToString();
    }

    // Salus, and the gRPC front end.
    private static void AddOthers(StringBuilder page)
    {
        page.Append("""

            - *if decided*: the projection is one that the agent of the process has read itself as decided, from a
              majority of acceptors. Else the answer is `NotInstalled` or `NotBootstrapped`, the agent reads the layout
              at once, and the client tries again. A projection that contradicts a decided one is `Denied`.
            - *own row*: the answer tells of the caller's own identity alone.

            Opcodes from 128 on belong to the systems beside the log, whose messages state the lowest role each
            (`RequestTable.Add`); without one the process does not start. No condition stands beside them.

            ## CRAQ

            Opcodes of a node's chains. Memcached's ports are behind no certificate: [craq](craq.md).

            | number | opcode | client | admin | node |
            |---|---|---|---|---|

            """.ReplaceLineEndings("\n"));
        AddMessages(page, typeof(CraqOpcode), s_craq);
        page.Append("""

            ## Salus

            Opcodes of region servers and stores. An NBD port with TLS refuses handshakes below the role `client`;
            behind it, a client reads and writes every export. A program that appends to the log may create, snapshot
            and delete volumes: these are records of the log, with no right of their own.

            | number | opcode | client | admin | node |
            |---|---|---|---|---|

            """.ReplaceLineEndings("\n"));
        AddMessages(page, typeof(SalusOpcode), s_salus);
        page.Append("""

            ## Methods of the gRPC front end

            Behind TLS. Which streams and objects a right is for: [grpc](grpc.md). *if granted*: by `access.json`.

            | method | no certificate | caller | client | admin | node |
            |---|---|---|---|---|---|

            """.ReplaceLineEndings("\n"));
        foreach (var row in MethodAccess.Rows)
        {
            page.Append(CultureInfo.InvariantCulture, $"| `{row.Method}` | {Cell(row, AccessRole.None)} ");
            page.Append(CultureInfo.InvariantCulture,
                $"| {Cell(row, AccessRole.Caller)} | {Cell(row, AccessRole.Client)} ");
            page.Append(CultureInfo.InvariantCulture,
                $"| {Cell(row, AccessRole.Admin)} | {Cell(row, AccessRole.Node)} |\n");
        }
    }

    private static void AddMessages(StringBuilder page, Type opcodes, RequestTable table)
    {
        foreach (var own in opcodes.GetFields())
        {
            var opcode = (Opcode)own.GetValue(null)!;
            page.Append(CultureInfo.InvariantCulture, $"| {(int)opcode} | `{own.Name}` ");
            foreach (var role in s_roles)
                page.Append(table.Judge(opcode, role) == AccessVerdict.Allowed ? "| yes " : "| no ");
            page.Append("|\n");
        }
    }

    private static string Cell(MethodRow row, AccessRole role) => (role, row.Policy) switch
    {
        (_, null) => "yes",
        (AccessRole.None, _) => "no",
        (AccessRole.Caller, CorfuPolicies.Caller) => "yes",
        (AccessRole.Caller or AccessRole.Client, CorfuPolicies.Trim or CorfuPolicies.ClusterChange) => "no",
        (AccessRole.Caller, _) => "if granted",
        _ => "yes",
    };

    private static string Cell(AccessRow row, AccessRole role)
    {
        if (role < row.Lowest) return "no";
        if (role > AccessRole.Client) return "yes";
        return row.Gate switch
        {
            AccessGate.None => "yes",
            AccessGate.Decided => "if decided",
            AccessGate.OwnRow => "own row",
            _ => throw new InvalidOperationException($"{row.Gate} has no words."),
        };
    }
}
