using System.Globalization;
using System.Security.Cryptography;
using Google.Protobuf;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Lists of which callers have not asked for the last page yet: all pages of a list are of one position. The
/// least recently used lists are dropped.</summary>
internal sealed class OpenLists<T>(IOptions<CorfuGrpcOptions> options)
{
    private readonly Lock _gate = new();

    // Guarded by _gate; the one that was asked for last is last.
    private readonly LinkedList<KeptList<T>> _recent = [];

    /// <returns>The page that the token names.</returns>
    /// <exception cref="RequestException">The token is none of this list.</exception>
    /// <exception cref="PageExpiredException">The list is not kept any more, or is another front end's.</exception>
    public ListPage<T> GoOn(string scope, string token)
    {
        if (token.Split('.') is not [var text, var start]
            || !ulong.TryParse(text, NumberStyles.HexNumber, CultureInfo.InvariantCulture, out var id)
            || !int.TryParse(start, NumberStyles.None, CultureInfo.InvariantCulture, out var next))
            throw new RequestException("page_token: not a token of this service.");
        lock (_gate)
        {
            for (var node = _recent.Last; node is not null; node = node.Previous)
            {
                if (node.Value.Id != id) continue;
                var list = node.Value;
                if (list.Scope != scope || next > list.Items.Length)
                    throw new RequestException("page_token: of another list.");
                _recent.Remove(node);
                _recent.AddLast(node);
                return new ListPage<T>(list, next);
            }
        }

        throw new PageExpiredException();
    }

    /// <returns>Empty: the page was the last one.</returns>
    public string TokenOf(ListPage<T> taken)
    {
        if (taken.IsLast) return "";
        lock (_gate)
        {
            if (!_recent.Contains(taken.List)) _recent.AddLast(taken.List);
            if (_recent.Count > options.Value.Tango.MaxOpenLists) RemoveOne();
        }

        return string.Create(CultureInfo.InvariantCulture, $"{taken.List.Id:x}.{taken.Next}");
    }

    // The least recently used of the caller with the most lists: a caller that begins many drops its own.
    private void RemoveOne()
    {
        var most = _recent.CountBy(static list => list.Caller).MaxBy(static own => own.Value).Key;
        _recent.Remove(_recent.First(list => list.Caller == most));
    }
}

/// <summary>All items of a list, by key in the order of code points.</summary>
/// <param name="Scope">Identifies the requests that may go on with the list.</param>
/// <param name="Caller">The caller that began it.</param>
internal sealed record KeptList<T>(
    ulong Id, string Scope, string Caller, LogPosition End, KeyValuePair<string, T>[] Items);

/// <summary>A caller's place in a list.</summary>
internal sealed class ListPage<T>(KeptList<T> list, int start)
{
    /// <summary>The first page.</summary>
    /// <param name="end">The list holds everything below this position.</param>
    public ListPage(string scope, string caller, LogPosition end, IEnumerable<KeyValuePair<string, T>> items)
        : this(
            new KeptList<T>(
                BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong))), scope, caller, end,
                [.. items.OrderBy(static item => item.Key, CodePointOrder.Instance)]),
            0)
    {
    }

    public KeptList<T> List => list;

    /// <summary>The index of the first item behind what was taken.</summary>
    public int Next { get; private set; } = start;

    public bool IsLast => Next >= list.Items.Length;

    /// <summary>Takes the page: at least one item if any is left.</summary>
    public List<TMessage> Take<TMessage>(
        CorfuGrpcOptions options, int pageSize, Func<KeyValuePair<string, T>, TMessage> toMessage)
        where TMessage : IMessage
    {
        if (pageSize < 0) throw new RequestException("page_size: negative.");
        var size = pageSize == 0 ? options.MaxBatchEntries : Math.Min(pageSize, options.MaxBatchEntries);
        var page = new List<TMessage>();
        var bytes = 0L;
        for (; !IsLast && page.Count < size; Next++)
        {
            var message = toMessage(list.Items[Next]);
            bytes += message.CalculateSize();
            if (page.Count > 0 && bytes > options.MaxBatchBytes) break;
            page.Add(message);
        }

        return page;
    }
}

/// <summary>Strings in the order of their code points, which is that of their UTF-8 bytes and of other languages. The
/// order of .NET's ordinal comparisons has surrogates below U+E000 to U+FFFF.</summary>
internal sealed class CodePointOrder : IComparer<string>
{
    public static CodePointOrder Instance { get; } = new();

    public int Compare(string? x, string? y)
    {
        var common = x.AsSpan().CommonPrefixLength(y);
        if (common == x!.Length || common == y!.Length) return x.Length.CompareTo(y!.Length);
        return RankOf(x[common]).CompareTo(RankOf(y[common]));
    }

    private static int RankOf(char unit) => char.IsSurrogate(unit) ? unit + char.MaxValue : unit;
}
