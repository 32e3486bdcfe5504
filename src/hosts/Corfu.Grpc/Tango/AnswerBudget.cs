namespace Corfu.Grpc;

/// <summary>Bytes that are left of an answer that is not divided into messages. A client would refuse a larger one,
/// after the operations have taken effect.</summary>
internal sealed class AnswerBudget(CorfuGrpcOptions options)
{
    // Tags and lengths around a part, and the answer's other fields.
    private const int Overhead = 32;
    private const int Frame = 4096;

    private long _left = options.MaxAnswerBytes - Frame;

    /// <exception cref="AnswerTooLargeException">Nothing was done yet.</exception>
    public void Take(int bytes)
    {
        _left -= bytes + Overhead;
        if (_left < 0) throw new AnswerTooLargeException(options.MaxAnswerBytes);
    }
}

/// <summary>The answer would be larger than the client takes. Nothing was done.</summary>
internal sealed class AnswerTooLargeException(int limit)
    : Exception($"The answer would be larger than {limit} bytes. Ask for fewer keys in one call; nothing was done.");
