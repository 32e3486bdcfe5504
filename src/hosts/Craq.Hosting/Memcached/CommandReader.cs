using System.Buffers;

namespace Craq.Hosting.Memcached;

/// <summary>Cuts a connection's bytes into commands of the text protocol: a line, and for storage commands a data block
/// behind it.</summary>
internal sealed class CommandReader(int maxValue)
{
    // Bytes of a block's end: \r\n.
    private const int BlockEnd = 2;

    public const string BadData = "CLIENT_ERROR bad data chunk";
    public const string LineTooLong = "CLIENT_ERROR line too long";

    // The command whose data block is being read; null: a line is next.
    private TextCommand? _open;

    // The block and its end.
    private readonly DataBlock _block = new();

    // The bytes up to the next line's end are passed over: a line was too long, or a data block did not end where it
    // should.
    private bool _skipsLine;

    /// <summary>Takes bytes from the beginning of the buffer.</summary>
    /// <returns>The next command; null: more bytes are needed.</returns>
    public TextCommand? Read(ref ReadOnlySequence<byte> buffer)
    {
        while (true)
        {
            if (_skipsLine && !TrySkip(ref buffer)) return null;
            if (_open is not null) return TryBlock(ref buffer);
            if (buffer.PositionOf((byte)'\n') is not { } end)
            {
                if (buffer.Length <= TextParser.MaxLine) return null;
                _skipsLine = true;
                return TextCommand.Faulty(LineTooLong);
            }

            var bytes = buffer.Slice(0, end);
            buffer = buffer.Slice(buffer.GetPosition(1, end));
            if (bytes.Length > TextParser.MaxLine) return TextCommand.Faulty(LineTooLong);
            var command = TextParser.Parse(LineOf(bytes), maxValue);
            if (command.Length < 0) return command;
            Begin(command);
        }
    }

    // A line ends with \n; a \r before it is not part of it.
    private static ReadOnlySpan<byte> LineOf(ReadOnlySequence<byte> bytes)
    {
        ReadOnlySpan<byte> line = bytes.IsSingleSegment ? bytes.FirstSpan : bytes.ToArray();
        return line is [.., (byte)'\r'] ? line[..^1] : line;
    }

    // False: the line goes on behind the buffer.
    private bool TrySkip(ref ReadOnlySequence<byte> buffer)
    {
        var end = buffer.PositionOf((byte)'\n');
        buffer = buffer.Slice(end is { } at ? buffer.GetPosition(1, at) : buffer.End);
        _skipsLine = end is null;
        return !_skipsLine;
    }

    private void Begin(TextCommand command)
    {
        _open = command;
        _block.Begin(command.Length + BlockEnd, isKept: command.Error is null);
    }

    private TextCommand? TryBlock(ref ReadOnlySequence<byte> buffer)
    {
        if (!_block.TryFill(ref buffer)) return null;
        var (command, block) = (_open!, _block.Take());
        _open = null;
        if (command.Error is not null) return command;
        var end = block.Span[command.Length..];
        if (end.SequenceEqual("\r\n"u8)) return command with { Value = block[..command.Length] };
        // As in memcached: the rest of the line belongs to the wrong block.
        _skipsLine = end[1] != '\n';
        return TextCommand.Faulty(BadData, noReply: command.NoReply);
    }
}
